// SPDX-License-Identifier: Apache-2.0
#include "platform/app/telemetry/views/monitor_json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "platform/app/telemetry/views/runtimes.h"
#include "platform/app/telemetry/views/summary.h"

namespace trn::telemetry {

namespace {

using nlohmann::json;

double rounded(double value) {
    constexpr double steps = 1e4;
    return static_cast<double>(static_cast<std::int64_t>(value * steps + 0.5)) / steps;
}

/// The elements of a group of metrics, and the names of those that are not known.
class group {
public:
    explicit group(double period) : content_{{"period", period}} {}

    void add(const char* name, json value) { content_[name] = std::move(value); }
    /// Adds the value to an object inside the group, if it is known.
    template <class T>
    void add_known(json& object, const char* name, const known<T>& value) {
        if (value)
            object[name] = *value;
        else
            missing_.insert(name);
    }
    template <class T>
    void add_known(const char* name, const known<T>& value) {
        add_known(content_, name, value);
    }
    void add_known(json& object, const char* name, const named_values& values) {
        const auto found = values.find(name);
        add_known(object, name, found == values.end() ? known<std::uint64_t>() : found->second);
    }
    void miss(const char* name) { missing_.insert(name); }

    json to_json() && {
        content_["error"] =
            missing_.empty() ? "" : fmt::format("not known: {}", fmt::join(missing_, ", "));
        return std::move(content_);
    }

private:
    json content_;
    std::set<std::string> missing_;
};

class report {
public:
    report(const monitor_choice& chosen, const machine_state* before, const machine_state& now,
           const instance& machine, const host_usage& host)
        : chosen_(chosen),
          machine_(machine),
          host_(host),
          work_(before, now),
          seconds_(before && now.wall_ms > before->wall_ms
                       ? static_cast<double>(now.wall_ms - before->wall_ms) / 1000
                       : chosen.period_s) {}

    json to_json() const {
        json all{{"neuron_runtime_data", json::array()}, {"system_data", json::object()}};
        for (const auto& share : runtimes_of(work_, machine_))
            for (const auto& wanted : chosen_.runtimes)
                if (wanted.matches(share.tag)) {
                    all["neuron_runtime_data"].push_back(runtime(share, wanted.groups));
                    break;
                }
        for (const auto& name : chosen_.system)
            all["system_data"][name] = name == "neuron_hw_counters" ? hw_counters()
                                       : name == "memory_info"      ? host_memory()
                                                                    : processors();
        all["instance_info"] = {{"instance_name", machine_.name},
                                {"instance_id", machine_.id},
                                {"instance_type", machine_.type},
                                {"instance_availability_zone", ""},
                                {"instance_availability_zone_id", ""},
                                {"instance_region", ""},
                                {"ami_id", ""},
                                {"subnet_id", ""},
                                {"error", ""}};
        all["neuron_hardware_info"] = hardware();
        return all;
    }

private:
    json runtime(const runtime_share& share, const std::set<std::string>& groups) const {
        json content = json::object();
        const auto used = cores_of(work_, machine_, share);
        if (groups.contains("neuroncore_counters")) content["neuroncore_counters"] = cores(used);
        if (groups.contains("execution_stats")) content["execution_stats"] = executions(share);
        if (groups.contains("memory_used")) content["memory_used"] = memory(share, used);
        if (groups.contains("neuron_runtime_vcpu_usage"))
            content["neuron_runtime_vcpu_usage"] = processors_of(share);
        return {{"pid", share.owner ? share.owner->pid : 0},
                {"neuron_runtime_tag", share.tag},
                {"error", ""},
                {"report", content}};
    }

    json cores(const std::vector<logical_core>& used) const {
        group all(seconds_);
        json in_use = json::object();
        for (const auto& c : used) {
            if (!c.utilisation) {
                all.miss("neuroncore_utilization");
                continue;
            }
            json entry{{"neuroncore_utilization", rounded(*c.utilisation)}};
            if (c.flops) {  // whole numbers, as far as they are exact
                constexpr double largest = 9e15;
                entry["flops"] = static_cast<std::uint64_t>(std::min(*c.flops, largest));
                entry["effective_flops"] = entry["flops"];
            }
            if (c.parts.size() > 1)
                for (std::size_t n = 0; n < c.parts.size(); ++n)
                    entry["v3d"][fmt::format("nc_v3.{}", n)] = {
                        {"neuroncore_utilization", rounded(*c.parts[n])}};
            in_use[fmt::format("{}", c.number)] = std::move(entry);
        }
        all.add("neuroncores_in_use", std::move(in_use));
        return std::move(all).to_json();
    }

    json executions(const runtime_share& share) const {
        group all(seconds_);
        const auto counted = executions_of(&work_, machine_, share);
        if (counted.errors.empty()) all.miss("error_summary");
        if (counted.status.empty()) all.miss("execution_summary");
        json latency;
        if (share.owner)
            for (const auto& [percentile, seconds] : latencies_of(*share.owner))
                latency[percentile] = seconds;
        all.add("error_summary", counted.errors);
        all.add("execution_summary", counted.status);
        all.add("latency_stats", {{"total_latency", latency}, {"device_latency", json()}});
        return std::move(all).to_json();
    }

    json memory(const runtime_share& share, const std::vector<logical_core>& cores) const {
        group all(seconds_);
        const auto bytes = memory_of(share, cores);
        json by_core = json::object(), host = json::object(), used = json::object();
        for (const auto& c : cores) {
            auto& kinds = by_core[fmt::format("{}", c.number)] = json::object();
            for (const auto* kind : core_memory_kinds) all.add_known(kinds, kind, c.memory);
        }
        for (const auto* kind : host_memory_kinds) all.add_known(host, kind, bytes.host_kinds);
        all.add_known(used, "host", bytes.host);
        all.add_known(used, "neuron_device", bytes.device);
        used["usage_breakdown"] = {{"host", host}, {"neuroncore_memory_usage", by_core}};
        all.add("neuron_runtime_used_bytes", std::move(used));
        all.add("loaded_models", json::array());
        return std::move(all).to_json();
    }

    json processors_of(const runtime_share& share) const {
        group all(seconds_);
        json usage = json::object();
        if (const auto used = share.owner ? host_.of_process(share.owner->pid) : std::nullopt)
            usage = {{"user", rounded((*used)[0])}, {"system", rounded((*used)[1])}};
        else
            all.miss("vcpu_usage");
        all.add("vcpu_usage", std::move(usage));
        return std::move(all).to_json();
    }

    json host_memory() const {
        group all(seconds_);
        const auto& m = host_.now;
        all.add_known("memory_total_bytes", m.memory_total);
        all.add_known("memory_used_bytes", m.memory_used());
        all.add_known("swap_total_bytes", m.swap_total);
        all.add_known("swap_used_bytes", m.swap_used());
        return std::move(all).to_json();
    }

    json processors() const {
        group all(seconds_);
        const auto percents = [](const auto& shares) {
            json states = json::object();
            if (shares)
                for (std::size_t state = 0; state < processor_states.size(); ++state)
                    states[processor_states[state]] = rounded((*shares)[state]);
            return states;
        };
        json by_processor = json::object();
        for (std::size_t n = 0; n < host_.now.processors.size(); ++n)
            by_processor[fmt::format("{}", n)] = percents(host_.percent(n));
        const auto mean = host_.mean_percent();
        if (!mean) all.miss("average_usage");
        all.add("average_usage", percents(mean));
        all.add("usage_data", std::move(by_processor));
        all.add_known("context_switch_count", host_.context_switches());
        return std::move(all).to_json();
    }

    /// Counts since the last report, because the public exporter adds them up.
    json hw_counters() const {
        group all(seconds_);
        json devices = json::array();
        for (const auto& d : machine_.devices) {
            json entry{{"neuron_device_index", d.index}, {"status", status_text(d)}};
            const auto* earlier = work_.before(machine_, d);
            const auto then = earlier ? ecc_events(*earlier) : named_values();
            auto counted = ecc_events(d);
            for (auto& [type, total] : counted)
                if (const auto old = then.find(type); old != then.end() && total >= old->second)
                    total -= old->second;
            for (const auto* type : ecc_event_types) all.add_known(entry, type, counted);
            // Ours, without which a group is complete.
            if (d.faulty) entry["unhealthy_components"] = *d.faulty;
            if (d.power_percent) entry["power_utilization"] = *d.power_percent;
            if (d.throttled) entry["throttled"] = *d.throttled;
            devices.push_back(std::move(entry));
        }
        all.add("neuron_devices", std::move(devices));
        return std::move(all).to_json();
    }

    json hardware() const {
        if (machine_.devices.empty()) return {{"error", "no device"}};
        const auto& first = machine_.devices.front();
        std::string type = first.product;
        std::ranges::transform(type, type.begin(),
                               [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
        const auto version =
            first.architecture.starts_with("ND") ? first.architecture.substr(2) : "";
        json all{{"neuron_device_type", type},
                 {"neuron_device_version", version},
                 {"neuroncore_version", version + (cores_of_logical_core(first) > 1 ? "d" : "")},
                 {"neuron_device_count", machine_.devices.size()},
                 {"neuroncore_per_device_count", logical_cores(first)},
                 {"error", ""}};
        if (first.memory_bytes) all["neuron_device_memory_size"] = *first.memory_bytes;
        if (has_logical_cores(first))
            all["logical_neuroncore_config"] = cores_of_logical_core(first);
        return all;
    }

    const monitor_choice& chosen_;
    const instance& machine_;
    const host_usage& host_;
    const interval work_;
    const double seconds_;
};

}  // namespace

json monitor_json(const monitor_choice& chosen, const machine_state* before,
                  const machine_state& now, const instance& machine, const host_usage& host) {
    return report(chosen, before, now, machine, host).to_json();
}

}  // namespace trn::telemetry

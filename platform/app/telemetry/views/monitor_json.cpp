// SPDX-License-Identifier: Apache-2.0
#include "platform/app/telemetry/views/monitor_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <utility>

#include "platform/app/telemetry/views/summary.h"
#include "platform/framework/config/json.h"

namespace trn::telemetry {

namespace {

using nlohmann::json;

/// Counters of the driver's sysfs that make up an element of neuron-monitor's summaries.
struct summed {
    const char* name;
    std::vector<const char*> counters;
};
const std::array<summed, 6> status_types{{
    {"completed", {"success"}},
    {"completed_with_err", {"execute_completed_with_error"}},
    {"completed_with_num_err", {"execute_completed_with_num_error"}},
    {"timed_out", {"timeout"}},
    {"incorrect_input", {"exec_bad_input"}},
    {"failed_to_queue", {"execute_failed_to_queue"}},
}};
const std::array<summed, 6> error_types{{
    {"generic", {"generic_error"}},
    {"numerical", {"execute_completed_with_num_error"}},
    {"transient", {"resource_error", "resource_nc_error"}},
    {"model", {"invalid_error", "unsupported_neff_version", "oob_error"}},
    {"runtime",
     {"execute_sw_nq_overflow", "execute_sw_semaphore_error", "execute_sw_event_error",
      "execute_sw_psum_collision", "execute_sw_sequencer_fatal"}},
    {"hardware",
     {"hw_error", "hw_collectives_error", "hw_hbm_ue_error", "hw_nc_ue_error", "hw_dma_abort_error",
      "hw_repairable_hbm_ue_error"}},
}};

std::uint64_t value_in(const named_values& values, const char* name) {
    const auto found = values.find(name);
    return found == values.end() ? 0 : found->second;
}

void add(named_values& sums, const std::array<summed, 6>& kinds, const named_values& now,
         const named_values* before) {
    for (const auto& kind : kinds)
        for (const auto* counter : kind.counters) {
            const auto total = value_in(now, counter);
            const auto then = before ? value_in(*before, counter) : 0;
            sums[kind.name] += total >= then ? total - then : total;
        }
}

double rounded(double value) {
    constexpr double steps = 1e4;
    return static_cast<double>(static_cast<std::int64_t>(value * steps + 0.5)) / steps;
}

template <class T>
json or_null(const known<T>& value) {
    return value ? json(*value) : json();
}

json percents(const std::optional<std::array<double, processor_states.size()>>& shares) {
    json all = json::object();
    for (std::size_t state = 0; state < processor_states.size(); ++state)
        all[processor_states[state]] = shares ? rounded((*shares)[state]) : 0.0;
    return all;
}

class report {
public:
    report(const monitor_choice& chosen, const machine_state* before, const machine_state& now,
           const instance& machine, const host_usage& host)
        : chosen_(chosen),
          before_(before),
          now_(now),
          machine_(machine),
          host_(host),
          work_(before, now),
          seconds_(before && now.wall_ms > before->wall_ms
                       ? static_cast<double>(now.wall_ms - before->wall_ms) / 1000
                       : chosen.period_s) {}

    json to_json() const {
        json all{{"neuron_runtime_data", json::array()}, {"system_data", json::object()}};
        for (const auto& share : runtimes_of(before_, now_, machine_))
            for (const auto& wanted : chosen_.runtimes)
                if (matches(share.tag, wanted.tag_filter)) {
                    all["neuron_runtime_data"].push_back(runtime(share, wanted.groups));
                    break;
                }
        for (const auto& group : chosen_.system) all["system_data"][group] = system_group(group);
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
    static bool matches(const std::string& tag, const std::string& filter);

    json group(json content) const {
        content["period"] = seconds_;
        if (!content.contains("error")) content["error"] = "";
        return content;
    }

    json runtime(const runtime_share& share, const std::set<std::string>& groups) const {
        json content = json::object();
        if (groups.contains("neuroncore_counters"))
            content["neuroncore_counters"] = group({{"neuroncores_in_use", cores(share)}});
        if (groups.contains("execution_stats"))
            content["execution_stats"] = group(executions(share));
        if (groups.contains("memory_used")) content["memory_used"] = group(memory(share));
        if (groups.contains("neuron_runtime_vcpu_usage")) {
            const auto used = share.owner ? host_.of_process(share.owner->pid) : std::nullopt;
            content["neuron_runtime_vcpu_usage"] =
                group({{"vcpu_usage",
                        {{"user", used ? rounded((*used)[0]) : 0.0},
                         {"system", used ? rounded((*used)[1]) : 0.0}}}});
        }
        return {{"pid", share.owner ? share.owner->pid : 0},
                {"neuron_runtime_tag", share.tag},
                {"error", ""},
                {"report", content}};
    }

    /// Calls visit(number of the logical core, its first physical core, device) for the cores.
    template <class Visit>
    void each_core(const runtime_share& share, const Visit& visit) const {
        for (const auto& d : machine_.devices) {
            if (std::ranges::count(share.devices, d.index) == 0) continue;
            const auto together = cores_of_logical_core(d);
            const auto first = first_logical_core(machine_, d);
            for (unsigned n = 0; n * together < d.cores.size(); ++n) {
                if (share.owner && !may_hold(*share.owner, machine_, d, n)) continue;
                visit(first + n, n * together, d);
            }
        }
    }

    json cores(const runtime_share& share) const {
        json all = json::object();
        each_core(share, [&](unsigned number, unsigned first, const device& d) {
            const auto together = cores_of_logical_core(d);
            json parts = json::object();
            double sum = 0, flops = 0;
            bool is_known = true, has_flops = false;
            for (unsigned n = first; n < first + together && n < d.cores.size(); ++n) {
                const auto used = work_.utilisation(machine_, d, d.cores[n]);
                const auto rate = work_.flops(machine_, d, d.cores[n]);
                is_known = is_known && used.has_value();
                has_flops = has_flops || rate.has_value();
                sum += used.value_or(0);
                flops += rate.value_or(0);
                parts[fmt::format("nc_v3.{}", n - first)] = {
                    {"neuroncore_utilization", used ? json(rounded(*used)) : json()}};
            }
            json entry{
                {"neuroncore_utilization", is_known ? json(rounded(sum / together)) : json()}};
            if (has_flops)
                entry["flops"] = entry["effective_flops"] = static_cast<std::uint64_t>(flops);
            if (together > 1) entry["v3d"] = parts;
            all[fmt::format("{}", number)] = entry;
        });
        return all;
    }

    json executions(const runtime_share& share) const {
        const auto counted = executions_of(before_, now_, machine_, share);
        json latency;
        if (share.owner)
            for (const auto& [percentile, ns] : share.owner->latency_ns)
                latency[percentile] = static_cast<double>(ns) / 1e9;
        return {{"error_summary", counted.errors},
                {"execution_summary", counted.status},
                {"latency_stats", {{"total_latency", latency}, {"device_latency", json()}}}};
    }

    json memory(const runtime_share& share) const {
        constexpr std::array core_kinds{"constants", "model_code", "model_shared_scratchpad",
                                        "runtime_memory", "tensors"};
        constexpr std::array host_kinds{"application_memory", "constants", "dma_buffers",
                                        "tensors"};
        json by_core = json::object(), host = json::object();
        std::uint64_t on_device = 0, on_host = 0;
        bool is_known = false;
        each_core(share, [&](unsigned number, unsigned first, const device& d) {
            json kinds = json::object();
            for (const auto* kind : core_kinds) kinds[kind] = 0u;
            const auto together = cores_of_logical_core(d);
            for (unsigned n = first; n < first + together && n < d.cores.size(); ++n) {
                const auto& c = d.cores[n];
                is_known = is_known || c.device_memory_bytes;
                on_device += c.device_memory_bytes.value_or(0);
                for (const auto* kind : core_kinds)
                    kinds[kind] =
                        kinds[kind].get<std::uint64_t>() + value_in(c.device_memory, kind);
            }
            by_core[fmt::format("{}", number)] = kinds;
        });
        named_values host_values;
        if (share.owner && !share.owner->host_memory.empty())
            host_values = share.owner->host_memory;
        else
            for (const auto& d : machine_.devices)
                if (std::ranges::count(share.devices, d.index) != 0)
                    for (const auto& [kind, bytes] : d.host_memory) host_values[kind] += bytes;
        for (const auto& [kind, bytes] : host_values) on_host += bytes;
        for (const auto* kind : host_kinds) host[kind] = value_in(host_values, kind);
        if (share.owner && !share.owner->device_memory.empty()) {
            on_device = 0;
            is_known = true;
            for (const auto& [kind, bytes] : share.owner->device_memory) on_device += bytes;
        }
        const bool host_known = !host_values.empty();
        return {{"neuron_runtime_used_bytes",
                 {{"host", host_known ? json(on_host) : json()},
                  {"neuron_device", is_known ? json(on_device) : json()},
                  {"usage_breakdown",
                   {{"host", host_known ? host : json()},
                    {"neuroncore_memory_usage", is_known ? by_core : json()}}}}},
                {"loaded_models", json::array()}};
    }

    json system_group(const std::string& name) const {
        if (name == "neuron_hw_counters") return group({{"neuron_devices", hw_counters()}});
        if (name == "memory_info") {
            const auto& m = host_.now;
            const auto used = [](const auto& total, const auto& unused) {
                return total && unused && *total >= *unused ? json(*total - *unused) : json();
            };
            return group({{"memory_total_bytes", or_null(m.memory_total)},
                          {"memory_used_bytes", used(m.memory_total, m.memory_available)},
                          {"swap_total_bytes", or_null(m.swap_total)},
                          {"swap_used_bytes", used(m.swap_total, m.swap_free)}});
        }
        json by_processor = json::object();
        for (std::size_t n = 0; n < host_.now.processors.size(); ++n)
            by_processor[fmt::format("{}", n)] = percents(host_.percent(n));
        json switches = or_null(host_.now.context_switches);
        if (host_.before && host_.before->context_switches && host_.now.context_switches)
            switches = *host_.now.context_switches - *host_.before->context_switches;
        return group({{"average_usage", percents(host_.mean_percent())},
                      {"usage_data", by_processor},
                      {"context_switch_count", switches}});
    }

    /// Counts since the last report, because the public exporter adds them up.
    json hw_counters() const {
        json all = json::array();
        for (const auto& d : machine_.devices) {
            json entry{{"neuron_device_index", d.index}};
            const auto* earlier = work_.before(machine_, d);
            const auto then = earlier ? ecc_events(*earlier) : named_values();
            const auto counted = ecc_events(d);
            for (const auto* type : {"mem_ecc_corrected", "mem_ecc_uncorrected",
                                     "sram_ecc_corrected", "sram_ecc_uncorrected"}) {
                const auto total = counted.find(type);
                if (total == counted.end()) {
                    entry[type] = json();
                    continue;
                }
                const auto before = value_in(then, type);
                entry[type] = total->second >= before ? total->second - before : total->second;
            }
            entry["status"] = status_text(d);
            entry["unhealthy_components"] = or_null(d.faulty);
            entry["power_utilization"] = or_null(d.power_percent);
            entry["throttled"] = or_null(d.throttled);
            all.push_back(std::move(entry));
        }
        return all;
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
                 {"neuron_device_memory_size", or_null(first.memory_bytes)},
                 {"neuroncore_per_device_count", logical_cores(first)},
                 {"error", ""}};
        if (has_logical_cores(first))
            all["logical_neuroncore_config"] = cores_of_logical_core(first);
        return all;
    }

    const monitor_choice& chosen_;
    const machine_state* const before_;
    const machine_state& now_;
    const instance& machine_;
    const host_usage& host_;
    const interval work_;
    const double seconds_;
};

}  // namespace

named_values ecc_events(const device& d) {
    named_values all;
    const auto set = [&](const char* type, const known<std::uint64_t>& count) {
        if (count) all[type] = *count;
    };
    set("mem_ecc_corrected", d.hbm_corrected);
    set("mem_ecc_uncorrected", d.hbm_uncorrected);
    set("sram_ecc_corrected", d.sram_corrected);
    set("sram_ecc_uncorrected", d.sram_uncorrected);
    return all;
}

std::vector<runtime_share> runtimes_of(const machine_state* before, const machine_state& now,
                                       const instance& machine) {
    std::vector<runtime_share> all;
    std::set<unsigned> owned;
    for (const auto& p : machine.processes) {
        if (is_tool(p)) continue;
        all.push_back({&p, fmt::format("{}", p.pid), p.devices});
        owned.insert(p.devices.begin(), p.devices.end());
    }
    const interval work(before, now);
    runtime_share unknown{nullptr, "unknown", {}};
    for (const auto& d : machine.devices) {
        const bool busy = std::ranges::any_of(d.cores, [&](const core& c) {
            return work.utilisation(machine, d, c).value_or(0) > 0;
        });
        if (busy && !owned.contains(d.index)) unknown.devices.push_back(d.index);
    }
    if (!unknown.devices.empty()) all.push_back(std::move(unknown));
    return all;
}

execution_counts executions_of(const machine_state* before, const machine_state& now,
                               const instance& machine, const runtime_share& share) {
    execution_counts sums;
    for (const auto& kind : status_types) sums.status[kind.name] = 0;
    for (const auto& kind : error_types) sums.errors[kind.name] = 0;
    const auto add_both = [&](const named_values& counted, const named_values* then) {
        add(sums.status, status_types, counted, then);
        add(sums.errors, error_types, counted, then);
    };
    if (share.owner != nullptr && !share.owner->status.empty()) {
        const named_values* then = nullptr;
        if (before != nullptr)
            for (const auto& each : before->instances)
                if (each.name == machine.name)
                    for (const auto& p : each.processes)
                        if (p.pid == share.owner->pid) then = &p.status;
        add_both(share.owner->status, then);
        return sums;
    }
    const interval work(before, now);
    for (const auto& d : machine.devices) {
        if (std::ranges::count(share.devices, d.index) == 0) continue;
        for (const auto& c : d.cores) {
            const auto* earlier = work.before(machine, d, c);
            add_both(c.status, earlier ? &earlier->status : nullptr);
        }
    }
    return sums;
}

json monitor_json(const monitor_choice& chosen, const machine_state* before,
                  const machine_state& now, const instance& machine, const host_usage& host) {
    return report(chosen, before, now, machine, host).to_json();
}

namespace {

/// "1s", "500ms", "2m". \throws std::runtime_error
double period_of(const json& value, const std::string& place) {
    constexpr double shortest = 0.05, longest = 3600;
    double seconds = 0;
    if (value.is_number()) {
        seconds = value.get<double>();
    } else if (value.is_string()) {
        const auto text = value.get<std::string>();
        std::size_t end = 0;
        try {
            seconds = std::stod(text, &end);
        } catch (const std::exception&) {
            end = 0;
        }
        const auto unit = text.substr(end);
        if (end == 0 || (unit != "s" && unit != "ms" && unit != "m"))
            throw std::runtime_error(fmt::format("{}: '{}' is not a period like 5s", place, text));
        seconds *= unit == "ms" ? 1e-3 : unit == "m" ? 60 : 1;
    } else {
        throw std::runtime_error(place + " is not a period like \"5s\"");
    }
    if (!(seconds >= shortest && seconds <= longest))
        throw std::runtime_error(place + ": a period is 50 ms to 1 hour");
    return seconds;
}

std::set<std::string> groups_of(const json& list, const std::set<std::string>& known_groups,
                                const std::string& place) {
    if (!list.is_array()) throw std::runtime_error(place + " is not a list");
    std::set<std::string> all;
    for (const auto& each : list) {
        const auto type = each.is_object() ? each.value("type", json()) : json();
        if (!type.is_string() || !known_groups.contains(type.get<std::string>()))
            throw std::runtime_error(
                fmt::format("{}: type {} is not one of {}", place, config::to_ascii(type),
                            std::accumulate(known_groups.begin(), known_groups.end(), std::string(),
                                            [](const std::string& sum, const std::string& name) {
                                                return sum.empty() ? name : sum + ", " + name;
                                            })));
        if (each.contains("period")) period_of(each["period"], place + ": period");
        all.insert(type.get<std::string>());
    }
    return all;
}

}  // namespace

monitor_choice monitor_choice_of(const std::string& text) {
    const auto file = config::parse_json(text);
    if (!file.is_object()) throw std::runtime_error("it is not a JSON object");
    monitor_choice chosen;
    if (file.contains("period")) chosen.period_s = period_of(file["period"], "period");
    chosen.runtimes.clear();
    chosen.system.clear();
    const auto runtimes = file.value("neuron_runtimes", json::array());
    if (!runtimes.is_array()) throw std::runtime_error("neuron_runtimes is not a list");
    for (const auto& row : runtimes) {
        monitored_runtimes wanted;
        if (!row.is_object()) throw std::runtime_error("neuron_runtimes: an element is no object");
        if (row.contains("tag_filter")) {
            if (!row["tag_filter"].is_string())
                throw std::runtime_error("neuron_runtimes: tag_filter is not text");
            wanted.tag_filter = row["tag_filter"].get<std::string>();
            constexpr std::size_t longest_filter = 255;
            if (wanted.tag_filter.size() > longest_filter)
                throw std::runtime_error("neuron_runtimes: tag_filter is longer than 255");
        }
        wanted.groups = groups_of(row.value("metrics", json::array()), runtime_groups,
                                  "neuron_runtimes: metrics");
        chosen.runtimes.push_back(std::move(wanted));
    }
    if (file.contains("system_metrics"))
        chosen.system = groups_of(file["system_metrics"], system_groups, "system_metrics");
    return chosen;
}

bool report::matches(const std::string& tag, const std::string& filter) {
    // Tags are numbers or short words: a filter of text, `.*` and `.` needs no more. It has no
    // backtracking beyond the last `.*`.
    std::size_t t = 0, f = 0, star = std::string::npos, resume = 0;
    while (t < tag.size()) {
        if (filter.compare(f, 2, ".*") == 0) {
            star = f;
            resume = t;
            f += 2;
        } else if (f < filter.size() && (filter[f] == '.' || filter[f] == tag[t])) {
            ++f;
            ++t;
        } else if (star != std::string::npos) {
            f = star + 2;
            t = ++resume;
        } else {
            return false;
        }
    }
    while (filter.compare(f, 2, ".*") == 0) f += 2;
    return f >= filter.size();
}

}  // namespace trn::telemetry

// SPDX-License-Identifier: Apache-2.0
#include "platform/app/telemetry/views/prometheus_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/app/telemetry/views/runtimes.h"
#include "platform/app/telemetry/views/summary.h"
#include "platform/framework/terminal_text.h"

namespace trn::telemetry {

namespace {

using label = std::pair<const char*, std::string>;

/// Samples of one name, which must stand together in the text.
struct family {
    const char* help;
    const char* type;
    std::string samples;
};

/// Prometheus refuses a whole page with text that is not UTF-8.
std::string escaped(std::string_view text) {
    std::string valid, out;
    while (!text.empty()) {
        const auto length = terminal::code_point(text);
        valid += length != 0 ? text.substr(0, length) : "?";
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    for (const char c : valid) {
        if (c == '\\' || c == '"') out += '\\';
        if (c == '\n')
            out += "\\n";
        else
            out += c;
    }
    return out;
}

/// Labels as text: `a="b",`.
std::string text_of(std::initializer_list<label> labels) {
    std::string text;
    for (const auto& [name, value] : labels)
        fmt::format_to(std::back_inserter(text), "{}=\"{}\",", name, escaped(value));
    return text;
}

class page {
public:
    page(const machine_state* before, const machine_state& now, const host_usage& host)
        : host_(host), work_(before, now) {
        for (const auto& machine : now.instances) add(machine);
        if (now.time_ps)
            sample("trn_simulated_time_seconds", "gauge", "Simulated time of the platform", "",
                   static_cast<double>(*now.time_ps) / 1e12);
    }

    std::string text() const {
        std::string all;
        for (const auto& name : order_) {
            const auto& f = families_.at(name);
            fmt::format_to(std::back_inserter(all), "# HELP {} {}\n# TYPE {} {}\n{}", name, f.help,
                           name, f.type, f.samples);
        }
        return all;
    }

private:
    template <class Number>
    void sample(const std::string& name, const char* type, const char* help,
                const std::string& labels, Number value) {
        const auto [found, is_new] = families_.try_emplace(name, family{help, type, {}});
        if (is_new) order_.push_back(name);
        auto& out = found->second.samples;
        out += name;
        if (!labels.empty()) {
            out += '{';
            out.append(labels, 0, labels.size() - 1);  // without the last comma
            out += '}';
        }
        fmt::format_to(std::back_inserter(out), " {}\n", value);
    }
    template <class Number>
    void gauge(const std::string& name, const char* help, const std::string& labels, Number value) {
        sample(name, "gauge", help, labels, value);
    }
    template <class T>
    void known_gauge(const std::string& name, const char* help, const std::string& labels,
                     const known<T>& value) {
        if (value) gauge(name, help, labels, *value);
    }

    void add(const instance& machine) {
        const auto own = text_of({{"instance_name", machine.name},
                                  {"instance_id", machine.id},
                                  {"instance_type", machine.type},
                                  {"availability_zone", ""},
                                  {"region", ""},
                                  {"subnet_id", ""}});
        for (const auto& share : runtimes_of(work_, machine)) add(machine, share, own);
        for (const auto& d : machine.devices) add(d, own);
        add_host(own);
        gauge("instance_info", "Information of the instance", own, 1);
        if (!machine.devices.empty())
            gauge("neuron_hardware_info", "Information of the Neuron hardware",
                  own + text_of({{"neuron_device_count", fmt::format("{}", machine.devices.size())},
                                 {"neuroncore_per_device_count",
                                  fmt::format("{}", logical_cores(machine.devices.front()))}}),
                  1);
    }

    void add(const instance& machine, const runtime_share& share, const std::string& own) {
        const auto tagged = own + text_of({{"runtime_tag", share.tag}});
        const auto cores = cores_of(work_, machine, share);
        for (const auto& c : cores) add(c, tagged);
        const auto memory = memory_of(share, cores);
        const auto add_used = [&](const char* location, const known<std::uint64_t>& bytes) {
            known_gauge("neuron_runtime_memory_used_bytes", "Memory that the runtime uses",
                        tagged + text_of({{"memory_location", location}}), bytes);
        };
        add_used("host", memory.host);
        add_used("neuron_device", memory.device);
        const auto counted = executions_of(nullptr, machine, share);
        for (const auto& [type, count] : counted.errors)
            sample("execution_errors_total", "counter", "Execution errors",
                   tagged + text_of({{"error_type", type}}), count);
        for (const auto& [type, count] : counted.status)
            sample("execution_status_total", "counter", "Results of executions",
                   tagged + text_of({{"status_type", type}}), count);
        if (share.owner == nullptr) return;
        for (const auto& [percentile, seconds] : latencies_of(*share.owner))
            gauge("execution_latency_seconds", "Latency of executions",
                  tagged + text_of({{"percentile", percentile}}), seconds);
        if (const auto usage = host_.of_process(share.owner->pid))
            for (std::size_t n = 0; n < 2; ++n)
                gauge("neuron_runtime_vcpu_usage_ratio", "Processors that the runtime uses",
                      tagged + text_of({{"usage_type", n == 0 ? "user" : "system"}}),
                      (*usage)[n] / 100);
    }

    void add(const logical_core& c, const std::string& tagged) {
        const auto labels = tagged + text_of({{"neuroncore", fmt::format("{}", c.number)}});
        if (c.utilisation)
            gauge("neuroncore_utilization_ratio", "NeuronCore utilization ratio", labels,
                  *c.utilisation / 100);
        for (const auto* kind : core_memory_kinds)
            if (const auto bytes = c.memory.find(kind); bytes != c.memory.end())
                gauge(fmt::format("neuroncore_memory_usage_{}", kind),
                      "Device memory of a NeuronCore, bytes",
                      labels + text_of({{"memory_location", "None"}}), bytes->second);
    }

    void add(const device& d, const std::string& own) {
        const auto labels = own + text_of({{"neuron_device_index", fmt::format("{}", d.index)}});
        for (const auto& [type, count] : ecc_events(d))
            sample("hardware_ecc_events_total", "counter", "ECC events of Neuron devices",
                   own + text_of({{"event_type", type},
                                  {"neuron_device_index", fmt::format("{}", d.index)}}),
                   count);
        gauge("trn_device_ready", "1: software can use the device", labels,
              d.status == device_status::ready ? 1 : 0);
        gauge("trn_device_status_info", "Status of the device",
              labels + text_of({{"status", status_text(d)}}), 1);
        if (d.faulty)
            gauge("trn_device_unhealthy_components", "Number of components with a fault", labels,
                  d.faulty->size());
        if (d.faulty)
            for (const auto& component : std::set(d.faulty->begin(), d.faulty->end()))
                gauge("trn_device_component_unhealthy", "1: the component has a fault",
                      labels + text_of({{"component", component}}), 1);
        if (d.hbm_repairable)
            sample("trn_device_hbm_repairable_total", "counter",
                   "Uncorrected errors of HBM that a repair removes", labels, *d.hbm_repairable);
        for (const auto* state : {"pending", "failed"})
            if (!d.repair.empty())
                gauge("trn_device_hbm_repair", "1: state of the repair of HBM",
                      labels + text_of({{"state", state}}), d.repair == state ? 1 : 0);
        if (d.power_percent)
            gauge("trn_device_power_utilization_ratio", "Part of the rated power", labels,
                  *d.power_percent / 100);
        known_gauge("trn_device_power_watts", "Power", labels, d.power_watts);
        for (std::size_t n = 0; n < d.celsius.size(); ++n)
            gauge("trn_device_temperature_celsius", "Temperature of a diode: dies, then HBM stacks",
                  labels + text_of({{"diode", fmt::format("{}", n)}}), d.celsius[n]);
        if (d.throttled)
            gauge("trn_device_throttled", "1: clocks are reduced", labels, *d.throttled ? 1 : 0);
        for (const auto& l : d.links) {
            const auto port = labels + text_of({{"port", fmt::format("{}", l.port)}});
            gauge("trn_link_up", "1: the link carries traffic", port, l.up ? 1 : 0);
            sample("trn_link_failures_total", "counter", "Failures of the link", port, l.downs);
            if (!l.fault.empty())
                gauge("trn_link_fault_info", "Fault of the link",
                      port + text_of({{"fault", l.fault}}), 1);
        }
        const auto count = [&](const char* name, const char* help, const known<std::uint64_t>& v) {
            if (v) sample(name, "counter", help, labels, *v);
        };
        count("trn_device_dma_bytes_total", "Bytes moved by DMA engines", d.dma_bytes);
        count("trn_device_dma_aborts_total", "Queues that DMA engines have aborted", d.dma_aborts);
        count("trn_device_hbm_bytes_total", "Bytes read from and written to HBM", d.hbm_bytes);
        count("trn_device_reset_requests_total", "Resets that the driver has requested",
              d.reset_requests);
        count("trn_device_reset_failures_total", "Resets that have failed", d.reset_failures);
        count("trn_device_restarts_total", "Restarts of the chip since power-on", d.restarts);
    }

    void add_host(const std::string& own) {
        const auto& m = host_.now;
        if (!m.processors.empty())
            gauge("system_vcpu_count", "Processors", own, m.processors.size());
        if (const auto shares = host_.mean_percent()) {
            // user with nice; system with io_wait, irq and soft_irq
            const auto& s = *shares;
            const double user = s[0] + s[1], system = s[2] + s[4] + s[5] + s[6];
            const char* help = "Part of the processors in use";
            gauge("system_vcpu_usage_ratio", help, own + text_of({{"usage_type", "user"}}),
                  std::min(1.0, user / 100));
            gauge("system_vcpu_usage_ratio", help, own + text_of({{"usage_type", "system"}}),
                  std::min(1.0, system / 100));
        }
        known_gauge("system_memory_total_bytes", "Memory of the system", own, m.memory_total);
        known_gauge("system_memory_used_bytes", "Memory in use", own, m.memory_used());
        known_gauge("system_swap_total_bytes", "Swap space of the system", own, m.swap_total);
        known_gauge("system_swap_used_bytes", "Swap space in use", own, m.swap_used());
    }

    const host_usage& host_;
    const interval work_;
    std::map<std::string, family> families_;
    std::vector<std::string> order_;  // names in the order of their first samples
};

}  // namespace

std::string prometheus_text(const machine_state* before, const machine_state& now,
                            const host_usage& host) {
    return page(before, now, host).text();
}

std::string scrapes::page(machine_state now, const std::string& proc) {
    constexpr std::uint64_t shortest_ms = 1000;
    host_.now = read_host(now, proc);
    if (next_ && now.wall_ms >= next_->wall_ms + shortest_ms) {
        base_ = std::exchange(next_, std::nullopt);
        host_.before = next_host_;
    }
    auto text = prometheus_text(base_ ? &*base_ : nullptr, now, host_);
    if (!next_) {
        next_ = std::move(now);
        next_host_ = host_.now;
    }
    return text;
}

}  // namespace trn::telemetry

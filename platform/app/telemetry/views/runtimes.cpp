// SPDX-License-Identifier: Apache-2.0
#include "platform/app/telemetry/views/runtimes.h"

#include <fmt/format.h>

#include <algorithm>

namespace trn::telemetry {

namespace {

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

/// Adds the counters that are known.
void add(named_values& sums, const std::array<summed, 6>& kinds, const named_values& now,
         const named_values* before) {
    for (const auto& kind : kinds)
        for (const auto* counter : kind.counters)
            if (const auto total = now.find(counter); total != now.end()) {
                const auto then = before ? before->find(counter) : now.end();
                const bool has_grown =
                    before && then != before->end() && total->second >= then->second;
                sums[kind.name] += has_grown ? total->second - then->second : total->second;
            }
}

void add(known<std::uint64_t>& sum, const known<std::uint64_t>& value) {
    if (value) sum = sum.value_or(0) + *value;
}

}  // namespace

std::vector<runtime_share> runtimes_of(const interval& work, const instance& machine) {
    const auto holds = [](const process& p, const device& d) {
        return !is_tool(p) && std::ranges::count(p.devices, d.index) != 0;
    };
    const auto is_shared = [&](const device& d) {
        return std::ranges::count_if(machine.processes,
                                     [&](const process& p) { return holds(p, d); }) > 1;
    };
    std::vector<runtime_share> all;
    runtime_share unknown{nullptr, "unknown", {}};
    for (const auto& p : machine.processes) {
        if (is_tool(p)) continue;
        runtime_share share{&p, fmt::format("{}", p.pid), {}};
        for (const auto& d : machine.devices)
            if (holds(p, d) && (p.cores || !is_shared(d))) share.devices.push_back(&d);
        all.push_back(std::move(share));
    }
    for (const auto& d : machine.devices) {
        const bool is_owned = std::ranges::any_of(
            all, [&](const auto& share) { return std::ranges::count(share.devices, &d) != 0; });
        const bool is_busy = std::ranges::any_of(d.cores, [&](const core& c) {
            return work.utilisation(machine, d, c).value_or(0) > 0;
        });
        if (!is_owned && (is_busy || is_shared(d))) unknown.devices.push_back(&d);
    }
    if (!unknown.devices.empty()) all.push_back(std::move(unknown));
    return all;
}

std::vector<logical_core> logical_cores_of(const interval& work, const instance& machine,
                                           const device& d) {
    std::vector<logical_core> all;
    const auto together = cores_of_logical_core(d);
    const auto number = first_logical_core(machine, d);
    for (std::size_t first = 0; first < d.cores.size(); first += together) {
        logical_core made;
        made.number = number + static_cast<unsigned>(all.size());
        double sum = 0;
        bool is_known = true;
        for (std::size_t n = first; n < std::min(first + together, d.cores.size()); ++n) {
            const auto& c = d.cores[n];
            made.parts.push_back(work.utilisation(machine, d, c));
            is_known = is_known && made.parts.back();
            sum += made.parts.back().value_or(0);
            if (const auto rate = work.flops(machine, d, c))
                made.flops = made.flops.value_or(0) + *rate;
            for (const auto& [kind, bytes] : c.device_memory) made.memory[kind] += bytes;
            add(made.memory_bytes, c.device_memory_bytes);
        }
        if (is_known) made.utilisation = sum / together;
        all.push_back(std::move(made));
    }
    return all;
}

std::vector<logical_core> cores_of(const interval& work, const instance& machine,
                                   const runtime_share& share) {
    std::vector<logical_core> all;
    for (const auto* d : share.devices) {
        const auto held = share.owner ? held_cores(*share.owner, machine, *d) : std::nullopt;
        for (auto& c : logical_cores_of(work, machine, *d))
            if (!held || std::ranges::count(*held, c.number) != 0) all.push_back(std::move(c));
    }
    return all;
}

runtime_memory memory_of(const runtime_share& share, const std::vector<logical_core>& cores) {
    runtime_memory used;
    if (share.owner && !share.owner->device_memory.empty())
        used.device = sum_of(share.owner->device_memory);
    else
        for (const auto& c : cores) add(used.device, c.memory_bytes);
    if (share.owner && !share.owner->host_memory.empty())
        used.host_kinds = share.owner->host_memory;
    else
        for (const auto* d : share.devices)
            for (const auto& [kind, bytes] : d->host_memory) used.host_kinds[kind] += bytes;
    used.host = sum_of(used.host_kinds);
    return used;
}

execution_counts executions_of(const interval* period, const instance& machine,
                               const runtime_share& share) {
    execution_counts sums;
    const auto add_both = [&](const named_values& counted, const named_values* then) {
        add(sums.status, status_types, counted, then);
        add(sums.errors, error_types, counted, then);
    };
    if (share.owner != nullptr && !share.owner->status.empty()) {
        const auto* then = period ? period->before(machine, *share.owner) : nullptr;
        add_both(share.owner->status, then ? &then->status : nullptr);
        return sums;
    }
    for (const auto* d : share.devices)
        for (const auto& c : d->cores) {
            const auto* then = period ? period->before(machine, *d, c) : nullptr;
            add_both(c.status, then ? &then->status : nullptr);
        }
    return sums;
}

std::vector<std::pair<std::string, double>> latencies_of(const process& p) {
    std::vector<std::pair<std::string, double>> all;
    for (const auto& [percentile, ns] : p.latency_ns)
        all.emplace_back(percentile, static_cast<double>(ns) / 1e9);
    return all;
}

named_values ecc_events(const device& d) {
    named_values all;
    const std::array counts{d.hbm_corrected, d.hbm_uncorrected, d.sram_corrected,
                            d.sram_uncorrected};
    for (std::size_t n = 0; n < counts.size(); ++n)
        if (counts[n]) all[ecc_event_types[n]] = *counts[n];
    return all;
}

}  // namespace trn::telemetry

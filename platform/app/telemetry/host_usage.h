// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "platform/app/telemetry/machine_state.h"

namespace trn::telemetry {

/// Times of a processor since the start of the machine, in ticks: user, nice, system, idle,
/// io_wait, irq, soft_irq.
inline constexpr std::array processor_states{"user",    "nice", "system",  "idle",
                                             "io_wait", "irq",  "soft_irq"};
using processor_times = std::array<std::uint64_t, processor_states.size()>;

/// Processors and memory of a machine, by its /proc.
struct host_sample {
    std::vector<processor_times> processors;
    std::optional<std::uint64_t> context_switches;
    std::optional<std::uint64_t> memory_total, memory_available, swap_total, swap_free;  ///< bytes
    std::map<std::uint64_t, std::array<std::uint64_t, 2>> process_ticks;  ///< pid to user, system
    std::uint64_t wall_ms = 0;

    known<std::uint64_t> memory_used() const;
    known<std::uint64_t> swap_used() const;
};

/// Of the machine and the state's processes. `proc`: the folder /proc of that machine; "": it is
/// not here, and nothing is known.
host_sample read_host(const machine_state& state, const std::string& proc);

/// The change between two samples.
struct host_usage {
    std::optional<host_sample> before;
    host_sample now;

    /// Percent of each state of processor `n` since `before`; nothing if no time has passed.
    std::optional<std::array<double, processor_states.size()>> percent(std::size_t n) const;
    std::optional<std::array<double, processor_states.size()>> mean_percent() const;
    /// Context switches since `before`; without it since the start of the machine.
    known<std::uint64_t> context_switches() const;
    /// User and system percent of one processor that the process used.
    std::optional<std::array<double, 2>> of_process(std::uint64_t pid) const;
};

}  // namespace trn::telemetry

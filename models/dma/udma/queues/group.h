// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <systemc>
#include <vector>

#include "models/dma/udma/descriptors/operation.h"
#include "models/soc/notification_queue/notification_queue.h"
#include "platform/framework/registers/register_bank.h"
#include "platform/framework/tlm/memory_port.h"

namespace trn {

enum class dma_side : std::uint8_t { m2s, s2m };  ///< reads memory, writes memory
inline constexpr std::array dma_sides{dma_side::m2s, dma_side::s2m};

/// A pair of values, one per side.
template <class T>
struct per_side : std::array<T, 2> {
    T& operator[](dma_side side) { return this->data()[static_cast<unsigned>(side)]; }
    const T& operator[](dma_side side) const { return this->data()[static_cast<unsigned>(side)]; }
};

inline const char* text(dma_side side) {
    return side == dma_side::m2s ? "m2s" : "s2m";
}

/// Result of a step; `blocked`: repeat the step when memory has answered.
enum class dma_progress : std::uint8_t { done, blocked, failed };

/// The due time of idle parts: sc_max_time().
inline const sc_core::sc_time& never() {
    static const sc_core::sc_time latest = sc_core::sc_max_time();
    return latest;
}

/// When an engine needs its next step(). The turns of a group are contiguous in memory, because the
/// group's process checks all of them at each activation.
struct dma_turn {
    sc_core::sc_time due = never();  ///< never(): nothing to do
    bool waits_for_memory = false;
};

/// One activation of the group, and the work that it may still do. Other work waits for the next
/// activation, so that a simulation slice stays short for any number of descriptors.
struct dma_activation {
    const sc_core::sc_time now;
    std::uint64_t bytes;
    unsigned transfers;
    bool spent() const { return bytes == 0 || transfers == 0; }
};

/// State shared by the engines of a group.
struct dma_group {
    struct timing {
        std::uint64_t bytes_per_second;
        sc_core::sc_time start_latency;        ///< doorbell of an idle queue to its first fetch
        sc_core::sc_time descriptor_overhead;  ///< per descriptor, in addition to its bytes
        /// For a started packet that lacks destination descriptors.
        sc_core::sc_time stream_timeout;
        sc_core::sc_time functional_step;     ///< time of an activation in functional timing
        sc_core::sc_time generation_latency;  ///< of a descriptor generator's command
        unsigned outstanding;                 ///< transfers in flight per engine
        std::uint64_t outstanding_bytes;      ///< no transfer starts while this many are in flight
    };
    /// Rates of compute operations, and the operations supported by this generation.
    struct computing {
        unsigned permille;            ///< of the mover's rate, for casts and reductions
        unsigned transpose_permille;  ///< the same, for transposes
        /// Accumulation is done next to the memory: the old bytes do not pass through the mover.
        bool accumulates_near_memory;
        dma_operation::abilities can;
    };
    timing times;
    const computing compute;
    const unsigned first_engine;  ///< number of the group's engine 0 in the chip
    const sc_core::sc_object& owner;
    register_bank& regs;
    register_bank& generator_regs;
    notification_queue& notifications;
    memory_port& memory;
    sc_core::sc_event& responded;  ///< wakes the process when memory has a response
    /// An engine's ABORT_EVENT may have changed.
    std::function<void()> abort_events_changed;
    std::vector<dma_turn> turns = {};  ///< one per engine, in order of creation
};

/// State shared by the parts of one engine.
struct dma_engine_context {
    dma_group& group;
    const unsigned number;  ///< in the group
    /// Stops a queue after an error.
    const std::function<void(dma_side, unsigned queue)> abort;
    std::string row = {};  ///< name of its row in the trace; empty until the first event

    const std::string& trace_row();
};

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "models/neuron_isa/instructions/table.h"

/// Execution times of instructions: doc/spec/neuron-core.md 9.
namespace trn::isa {

/// Cycles per second of an engine (spec 1).
std::uint64_t clock_of(engine e, generation g);

inline constexpr std::uint32_t control_cycles = 16;      ///< per control instruction; invented
inline constexpr std::uint32_t array_idle_ns = 3000;     ///< idle time until the array is cold
inline constexpr std::uint32_t array_warm_up_ns = 3000;  ///< at half rate after a cold start
inline constexpr std::uint32_t wake_ns = 30;  ///< from an update to the issue of a waiting engine
inline constexpr std::uint32_t row_generation_ns = 50;  ///< per index of DMA_GATHER
inline constexpr std::uint32_t dma_poll_ns = 100;  ///< polling interval of DMA queues; invented
inline constexpr std::uint32_t gather_start_ns = 1000;  ///< per DMA_GATHER

/// Engine cycles of one data-path instruction.
struct cost {
    std::uint64_t interval = 0;  ///< from start to the start of the next
    std::uint64_t latency = 0;   ///< from start to completion
    unsigned rate = 1;           ///< performance mode: 1, 2 or 4 elements per cycle
};
/// Precondition: `i` passed check().
cost cost_of(const instruction& i, engine e, generation g);

/// Bytes and operations of an instruction, for counters.
struct work {
    std::uint64_t bytes_read = 0, bytes_written = 0;            ///< of SBUF and PSUM
    std::uint64_t psum_bytes_read = 0, psum_bytes_written = 0;  ///< PSUM's share of the bytes
    std::uint64_t flops = 0;                                    ///< 2 per multiply-accumulate
    std::uint64_t bf16_flops = 0;  ///< weighted by time relative to BF16 (spec 10.3)
};
work work_of(const instruction& i, engine e, generation g);

}  // namespace trn::isa

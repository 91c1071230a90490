// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "models/instructions/table.h"

/// How long instructions take: doc/spec/neuron-core.md 9. The one place for these numbers.
namespace trn::isa {

/// Cycles per second of an engine (spec 1).
std::uint64_t clock_of(engine e, generation g);

inline constexpr std::uint32_t control_cycles = 16;      ///< of a control instruction; invented
inline constexpr std::uint32_t array_idle_ns = 3000;     ///< after which the array is cold
inline constexpr std::uint32_t array_warm_up_ns = 3000;  ///< at half rate, once it computes again
inline constexpr std::uint32_t wake_ns = 30;             ///< update to a waiting engine's issue
inline constexpr std::uint32_t row_generation_ns = 50;   ///< of DMA_GATHER
inline constexpr std::uint32_t dma_poll_ns = 100;        ///< between looks at a DMA queue; invented
inline constexpr std::uint32_t gather_start_ns = 1000;   ///< of DMA_GATHER

/// Engine cycles of one data-path instruction.
struct cost {
    std::uint64_t interval = 0;  ///< until the next may start
    std::uint64_t latency = 0;   ///< from start to completion
    unsigned rate = 1;           ///< performance mode: 1, 2 or 4 elements per cycle
};
/// Precondition: `i` passed check().
cost cost_of(const instruction& i, engine e, generation g);

/// What an instruction moves and computes, for counters.
struct work {
    std::uint64_t bytes_read = 0, bytes_written = 0;            ///< of SBUF and PSUM
    std::uint64_t psum_bytes_read = 0, psum_bytes_written = 0;  ///< the part of PSUM
    std::uint64_t flops = 0;                                    ///< 2 per multiply-accumulate
    std::uint64_t bf16_flops = 0;  ///< matmuls by the time of BF16 ones (spec 10.3)
};
work work_of(const instruction& i, engine e, generation g);

}  // namespace trn::isa

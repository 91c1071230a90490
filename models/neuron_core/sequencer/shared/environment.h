// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <systemc>

#include "models/neuron_core/sequencer/shared/program_lines.h"
#include "models/neuron_core/sequencer/shared/program_observer.h"
#include "models/neuron_core/sequencer/timing/array_activity.h"
#include "models/neuron_core/sequencer/timing/issue_window.h"
#include "models/neuron_isa/instructions/codec.h"
#include "models/neuron_isa/instructions/data_path.h"
#include "models/soc/notification_queue/notification_queue.h"
#include "models/soc/semaphores/semaphores.h"
#include "platform/framework/registers/register_bank.h"
#include "platform/framework/tlm/memory_port.h"

namespace trn {

/// Properties and parts of a core that its sequencers share.
struct sequencer_environment {
    struct identity {
        isa::generation generation = isa::generation::v4;
        unsigned core = 0;           ///< in the chip
        unsigned chip = 0;           ///< routing id
        std::uint64_t dma_base = 0;  ///< registers of the first of the core's 16 DMA engines
        std::uint64_t dma_stride = 0;
        // AXI addresses at which DMA engines access the core's memories and semaphores.
        std::uint64_t sbuf = 0, psum = 0, semaphores = 0;
    };

    const sc_core::sc_object& owner;
    identity id;
    isa::partition_sizes partitions;
    semaphores& sync;
    isa::core_memory& memory;
    memory_port& port;
    register_bank& control;  ///< control blocks; the instance is the engine
    std::function<bool(unsigned slot, const notification&)> notify;
    /// Makes an engine's data path when its first instruction needs it; null for Sync.
    std::function<std::unique_ptr<isa::data_path>(isa::engine)> make_data_path;
    isa::memory_ports ports{};
    /// Set by a debugger: pauses simulated time for the reason given.
    std::function<void(const std::string& why)> pause = {};
    isa::program_observer* observer = nullptr;  ///< null: programs are not checked
    const program_lines* lines = nullptr;       ///< null: source lines are unknown
    array_activity array{};
    /// Time to load a set of activation functions (spec 3.6).
    sc_core::sc_time act_table_load{1, sc_core::SC_US};
    bool warm_up = false;      ///< the array is slow after it was idle (spec 9.2)
    bool operand_crc = false;  ///< whether traces contain CRCs of operands
    /// Sums of all engines since power-on, for the power model; resets do not clear them.
    std::uint64_t bf16_flops = 0, sram_bytes = 0;
};

/// Counters of one engine since its reset.
struct engine_counters {
    std::uint64_t busy_cycles = 0, bytes_read = 0, bytes_written = 0, flops = 0,
                  semaphore_wraps = 0, numerical = 0, fetched_bytes = 0;
    std::uint64_t psum_bytes_read = 0, psum_bytes_written = 0;  ///< PSUM's share of the bytes
    std::uint64_t bf16_flops = 0;                               ///< see isa::work
    std::array<std::uint64_t, 3> instructions_by_rate{};        ///< data path: 1x, 2x, 4x

    // Cycles waited, by cause.
    std::uint64_t wait_cycles = 0;      ///< for semaphores and events
    std::uint64_t dma_wait_cycles = 0;  ///< share of wait_cycles ended by DMA
    std::uint64_t overlap_cycles = 0;   ///< for results and operands of earlier instructions
    std::uint64_t port_cycles = 0;      ///< for ports that another engine uses
    std::uint64_t fetch_cycles = 0;     ///< for program words
    std::map<unsigned, std::uint64_t> wait_cycles_by_index{};  ///< per semaphore or event

    std::optional<std::uint64_t> started{};  ///< cycle of the first start
};

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <systemc>

#include "models/instructions/codec.h"
#include "models/instructions/data_path.h"
#include "models/notification_queue/notification_queue.h"
#include "models/semaphores/semaphores.h"
#include "models/sequencer/issue_window.h"
#include "platform/framework/registers/register_bank.h"
#include "platform/framework/tlm/memory_port.h"

namespace trn {

/// What the sequencers of a core know of it and share.
struct sequencer_environment {
    struct identity {
        isa::generation generation = isa::generation::v4;
        unsigned core = 0;           ///< in the chip
        unsigned chip = 0;           ///< routing id
        std::uint64_t dma_base = 0;  ///< registers of the first of the core's 16 DMA engines
        std::uint64_t dma_stride = 0;
    };

    const sc_core::sc_object& owner;
    identity who;
    isa::partition_sizes partitions;
    semaphores& sync;
    isa::core_memory& memory;
    memory_port& port;
    register_bank& control;  ///< the control blocks; instance = engine
    std::function<bool(unsigned slot, const notification&)> notify;
    /// What an engine computes with, made at its first instruction that needs it; null for Sync.
    std::function<std::unique_ptr<isa::data_path>(isa::engine)> make_data_path;
    isa::memory_ports ports{};
};

/// What one engine has done since its reset.
struct engine_counters {
    std::uint64_t busy_cycles = 0, wait_cycles = 0, bytes_read = 0, bytes_written = 0, flops = 0,
                  semaphore_wraps = 0, numerical = 0, fetched_bytes = 0;
};

}  // namespace trn

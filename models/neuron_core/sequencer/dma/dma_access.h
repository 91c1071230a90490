// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "models/neuron_core/sequencer/shared/environment.h"
#include "models/neuron_core/sequencer/shared/progress.h"

namespace trn {

/// Accesses of an engine to the registers and rings of its core's 16 DMA engines, one at a time; a
/// memory may defer them. Spends no time: the callers do.
class dma_access {
public:
    static constexpr unsigned engines = 16;

    dma_access(sequencer_environment& environment, sc_core::sc_event& wake)
        : core_(environment), pending_(wake) {}

    /// Address of a register of DMA engine `engine`.
    std::uint64_t address(unsigned engine, std::uint64_t offset) const {
        return core_.id.dma_base + engine * core_.id.dma_stride + offset;
    }
    /// Fails with WRITE_FAILED and `engine` as detail when the access is answered with an error.
    progress read(unsigned engine, std::uint64_t address, std::span<std::uint32_t> words);
    progress write(unsigned engine, std::uint64_t address, std::span<const std::uint32_t> words);
    /// Access time of the last access.
    const sc_core::sc_time& delay() const { return delay_; }
    void reset();

private:
    progress access(tlm::tlm_command command, unsigned engine, std::uint64_t address,
                    std::uint32_t* words, std::size_t count);

    sequencer_environment& core_;
    pending_access pending_;
    sc_core::sc_time delay_;
    std::uint32_t resets_ = 0;  // count of reset(): a write may reset this engine
};

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "models/neuron_core/sequencer/shared/engine_settings.h"
#include "models/neuron_core/sequencer/shared/progress.h"
#include "models/neuron_core/sequencer/timing/engine_clock.h"
#include "models/neuron_core/sequencer/timing/timing.h"

namespace trn {

/// An engine's wait for a busy DMA queue, which it polls: WAIT_LIMIT bounds it, as any wait.
class queue_poll {
public:
    queue_poll(const engine_clock& clock, const engine_settings& settings)
        : clock_(clock), settings_(settings) {}

    /// The queue of `engine` is busy: the time of the next poll, or TIMEOUT with the engine.
    progress again(unsigned engine) {
        const auto now = clock_.now();
        if (!since_) since_ = now;
        const std::uint64_t limit_us = settings_.wait_limit_us();
        if (limit_us != 0 && now >= *since_ + clock_.of_ns(limit_us * 1000))
            return isa::fault{isa::error::timeout, isa::operand::none, engine};
        return sleeping{now + clock_.of_ns(isa::dma_poll_ns)};
    }
    void end() { since_.reset(); }

private:
    const engine_clock& clock_;
    const engine_settings& settings_;
    std::optional<engine_clock::cycles> since_;  // first poll
};

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "models/neuron_core/sequencer/shared/engine_signals.h"
#include "models/neuron_core/sequencer/timing/engine_clock.h"
#include "models/neuron_isa/instructions/instruction.h"
#include "platform/framework/kernel/trace.h"

namespace trn {

/// Issued instructions of one engine. They complete in program order; at completion each carries
/// out its update, then its notifications (spec 5.5).
class completion_queue {
public:
    using cycles = engine_clock::cycles;
    struct entry {
        std::uint32_t pc;
        isa::semaphore_update update;  ///< mode 0: none
        bool notify, traced;
        trace::operation operation = 0;  ///< the operation that the instruction began

        bool has_effect() const { return update.mode != 0 || notify || traced; }
    };

    /// Adds `e`, which completes at `cycle`, but not before earlier entries.
    void push(cycles cycle, const entry& e);
    /// Carries out updates and notifications due at `now`.
    void settle(cycles now, engine_signals& signals);
    void reset();

    /// Completion of the last issued instruction.
    cycles last() const { return last_; }
    std::optional<cycles> next() const;
    /// The next completion with an update or a notification.
    std::optional<cycles> next_effect() const;
    /// Number of instructions that are complete at `now`.
    std::uint64_t retired(cycles now) const;
    std::uint64_t issued() const { return issued_; }
    /// Counts an instruction that completes at once and has no effect.
    void count() { ++issued_; }

private:
    struct flight {
        cycles cycle;
        entry completion;
    };
    std::deque<flight> flights_;
    cycles last_ = 0;
    std::uint64_t issued_ = 0;  // in program order, without failed instructions
};

}  // namespace trn

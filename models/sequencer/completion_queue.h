// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "models/instructions/instruction.h"
#include "models/sequencer/engine_clock.h"
#include "models/sequencer/engine_signals.h"
#include "platform/framework/kernel/trace.h"

namespace trn {

/// Instructions of one engine that have been issued: they complete in program order, and each then
/// carries out its update, then its notifications (spec 5.5).
class completion_queue {
public:
    using cycles = engine_clock::cycles;
    struct entry {
        std::uint32_t pc;
        isa::semaphore_update update;  ///< mode 0: none
        bool notify, traced;
        trace::operation of = 0;  ///< that the instruction began

        bool has_effect() const { return update.mode != 0 || notify || traced; }
    };

    /// `e` completes at `at`, not before earlier ones.
    void push(cycles at, const entry& e);
    /// Carries out what is due at `at`.
    void settle(cycles at, engine_signals& signals);
    void reset();

    /// When the last instruction issued is complete.
    cycles last() const { return last_; }
    std::optional<cycles> next() const;
    /// The next completion that others see.
    std::optional<cycles> next_effect() const;
    /// Instructions complete at `at`.
    std::uint64_t retired(cycles at) const;
    std::uint64_t issued() const { return issued_; }
    /// An instruction that completes at once and has no effect.
    void count() { ++issued_; }

private:
    struct flight {
        cycles at;
        entry what;
    };
    std::deque<flight> flights_;
    cycles last_ = 0;
    std::uint64_t issued_ = 0;  // in program order, failed ones not counted
};

}  // namespace trn

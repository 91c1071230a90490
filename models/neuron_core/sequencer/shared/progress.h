// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <systemc>
#include <variant>

#include "models/neuron_core/sequencer/timing/engine_clock.h"
#include "models/neuron_isa/instructions/instruction.h"

namespace trn {

/// Result of a unit's work on the current instruction. Units never wait: the sequencer sleeps, then
/// calls again.
struct finished {};
struct sleeping {  ///< until the earlier of both, or until memory wakes the engine
    std::optional<engine_clock::cycles> until = {};
    const sc_core::sc_event* event = nullptr;
};
/// A write of the current instruction has reset this engine and discarded the instruction.
struct abandoned {};
using progress = std::variant<finished, sleeping, isa::fault, abandoned>;

inline bool is_finished(const progress& p) {
    return std::holds_alternative<finished>(p);
}

}  // namespace trn

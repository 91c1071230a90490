// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "models/neuron_core/sequencer/shared/environment.h"
#include "models/neuron_core/sequencer/timing/engine_clock.h"
#include "models/neuron_isa/instructions/instruction.h"

namespace trn {

/// The 64 registers of an engine, and the instructions that only use them: integer arithmetic,
/// branches, DELAY, RANK.
class register_unit {
public:
    using file = std::array<std::uint32_t, isa::register_count>;

    std::uint32_t operator[](std::size_t n) const { return values_[n]; }
    std::uint32_t& operator[](std::size_t n) { return values_[n]; }
    const file& values() const { return values_; }
    void reset() { values_ = {}; }

    /// Wait and update values: registers if FLAGS says so.
    std::int32_t wait_value(const isa::instruction& i) const;
    std::int32_t update_value(const isa::instruction& i) const;

    /// Whether `i`, with its wait and update, uses registers only.
    static bool is_local(const isa::instruction& i);
    /// Executes `i` at `pc`, spends its cycles and returns the next pc. Precondition: `i` is a NOP,
    /// or is_local(i).
    std::uint32_t execute(const isa::instruction& i, std::uint32_t pc, engine_clock& clock,
                          const sequencer_environment::identity& id);

private:
    file values_{};
};

}  // namespace trn

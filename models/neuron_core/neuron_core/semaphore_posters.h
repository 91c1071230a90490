// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "models/neuron_core/sequencer/shared/program_lines.h"
#include "models/neuron_isa/instructions/instruction.h"

namespace trn {

/// Finds the instructions in the programs of a core's engines that update a semaphore or event, for
/// stall reports. Reads the programs from memory on request, without time or side effects.
class semaphore_posters {
public:
    struct program {
        isa::engine engine;
        std::uint64_t base;
        std::uint32_t words;
        std::string state;  ///< "halted at pc 7"
    };
    using peek = program_lines::peek;

    /// `semaphores`: address of the core's events and semaphores. `lines` may be null.
    semaphore_posters(peek read, std::uint64_t semaphores, const program_lines* lines)
        : read_(std::move(read)), semaphores_(semaphores), lines_(lines) {}

    /// For example "posted by tensor at pc 12 (failed at pc 3)", or that no program posts it.
    std::string describe(const isa::wait_condition& wait, std::span<const program> programs) const;

private:
    /// Limit of the words of a program that are read.
    static constexpr std::uint32_t max_words = 1 << 16;

    bool posts(const isa::instruction& i, bool event, unsigned index) const;
    bool writes(std::uint64_t address, bool event, unsigned index) const;

    peek read_;
    std::uint64_t semaphores_;
    const program_lines* lines_;
};

}  // namespace trn

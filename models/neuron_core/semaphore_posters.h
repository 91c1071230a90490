// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "models/instructions/instruction.h"
#include "models/sequencer/program_lines.h"

namespace trn {

/// What a stall report says of who should post a semaphore or an event: the instructions in the
/// programs of a core's engines that update it. Reads the programs from memory without time or side
/// effects, when it is asked.
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

    /// "posted by tensor at pc 12 (failed at pc 3)", or that no program posts it.
    std::string of(const isa::wait_condition& wait, std::span<const program> programs) const;

private:
    static constexpr std::uint32_t max_words = 1 << 16;  ///< of a program that are looked at

    bool posts(const isa::instruction& i, bool event, unsigned index) const;
    bool writes(std::uint64_t address, bool event, unsigned index) const;

    peek read_;
    std::uint64_t semaphores_;
    const program_lines* lines_;
};

}  // namespace trn

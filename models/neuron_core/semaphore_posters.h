// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "models/instructions/instruction.h"

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
    /// Reads bytes at an address; returns how many there are.
    using peek = std::function<unsigned(std::uint64_t address, std::span<std::uint8_t> bytes)>;

    /// `semaphores`: address of the core's events and semaphores.
    semaphore_posters(peek read, std::uint64_t semaphores)
        : read_(std::move(read)), semaphores_(semaphores) {}

    /// "posted by tensor at pc 12 (failed at pc 3)", or that no program posts it.
    std::string of(const isa::wait_condition& wait, std::span<const program> programs) const;

private:
    static constexpr std::uint32_t max_words = 1 << 16;  ///< of a program that are looked at

    bool posts(const isa::instruction& i, bool event, unsigned index) const;
    bool writes(std::uint64_t address, bool event, unsigned index) const;

    peek read_;
    std::uint64_t semaphores_;
};

}  // namespace trn

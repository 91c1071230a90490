// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <vector>

#include "models/processor/riscv/decode/isa.h"

namespace trn::riscv {

/// The word that LR has reserved.
struct reservation {
    u64 pa = 0, value = 0;
    unsigned size = 0;         ///< 0: none
    const u8* host = nullptr;  ///< the word in host memory: other harts may have it at another pa
    u64 taken_at = 0;          ///< ticks() of its hart
    bool is_old = false;       ///< at the end of its hart's turn
};

/// The reservations that harts hold while other harts have their turns. One thread executes all
/// harts, so only stores of a later turn end a reservation.
class reservations {
public:
    /// A reservation that is older than this ends with the turn of another hart, so that an LR
    /// without SC does not slow other harts. A constrained loop is shorter (Unpriv. 8.3).
    static constexpr u64 max_age = 64;  // instructions

    /// A hart's turn begins. Returns whether other harts hold reservations.
    bool begin_turn(reservation& own) {
        if (held_.empty()) return false;
        std::erase_if(held_, [&own](reservation* each) {
            if (each == &own) return true;
            if (each->is_old) each->size = 0;
            return each->size == 0;
        });
        return !held_.empty();
    }
    /// Its turn ends with a reservation.
    void hold(reservation& own) { held_.push_back(&own); }
    void remove(reservation& own) { std::erase(held_, &own); }

    /// Whether a held reservation is in these bytes of host memory.
    bool any_in(const u8* first, u64 size) const {
        return std::ranges::any_of(held_, [&](auto* each) { return meets(*each, first, size); });
    }
    /// The bytes are stored to.
    void end(const u8* first, u64 size) {
        for (reservation* const each : held_)
            if (meets(*each, first, size)) each->size = 0;
    }

private:
    static bool meets(const reservation& r, const u8* first, u64 size) {
        return r.size != 0 && r.host < first + size && first < r.host + r.size;
    }

    std::vector<reservation*> held_;
};

}  // namespace trn::riscv

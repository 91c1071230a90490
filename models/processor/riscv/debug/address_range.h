// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "models/processor/riscv/decode/isa.h"

namespace trn::riscv {

/// The addresses [first, last].
struct address_range {
    u64 first = ~u64{0}, last = 0;  ///< as initialised: empty

    bool is_empty() const { return first > last; }
    bool overlaps(const address_range& other) const {
        return first <= other.last && other.first <= last;
    }
    /// Extends it by the part of `other` in `limits`.
    void include(const address_range& other, const address_range& limits) {
        if (!other.overlaps(limits)) return;
        first = std::min(first, std::max(other.first, limits.first));
        last = std::max(last, std::min(other.last, limits.last));
    }
    /// Reduces it to its part around `address` that is outside of `other`.
    void exclude(const address_range& other, u64 address) {
        if (other.is_empty()) return;
        if (other.last < address)
            first = std::max(first, other.last + 1);
        else if (other.first > address)
            last = std::min(last, other.first - 1);
        else
            *this = {};
    }
};

}  // namespace trn::riscv

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "platform/framework/kernel/random.h"

namespace trn::rtl {

/// Cycles in which an adapter is not ready, to test a design with backpressure: a part of them,
/// chosen by the seed of the run and a name.
class stalls {
public:
    stalls(std::string_view name, unsigned percent) : seed_(seed_for(name)), percent_(percent) {}
    /// For the next cycle.
    bool next() { return percent_ != 0 && mix_bits(seed_ + ++cycle_) % 100 < percent_; }

private:
    const std::uint64_t seed_;
    const unsigned percent_;
    std::uint64_t cycle_ = 0;
};

}  // namespace trn::rtl

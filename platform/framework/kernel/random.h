// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace trn {

/// The one seed of a run. Set once, before modules are built; 0 until then.
void set_seed(std::uint64_t seed);
std::uint64_t seed();

/// The seed of the random stream that belongs to `name` (a module's full name). It depends on the
/// run's seed and on the name only, so adding a module never changes another module's stream.
/// Use it with std::mt19937_64, whose sequence the C++ standard fixes; do not use std::
/// distributions, whose results it leaves open.
std::uint64_t seed_for(std::string_view name);

/// A number in which each bit depends on every bit of `x` (the finaliser of SplitMix64): one draw
/// of a sequence that is addressed by number.
std::uint64_t mix_bits(std::uint64_t x);

}  // namespace trn

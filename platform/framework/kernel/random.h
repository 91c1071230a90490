// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace trn {

/// The seed of the run. Set it once, before modules are built; the default is 0.
void set_seed(std::uint64_t seed);
std::uint64_t seed();

/// The seed of the random stream for `name` (a module's full name). It depends only on the run's
/// seed and the name, so adding a module does not change the streams of others. Use
/// std::mt19937_64, whose sequence the C++ standard defines; do not use std:: distributions, whose
/// results it does not define.
std::uint64_t seed_for(std::string_view name);

/// Hashes `x` so that each bit of the result depends on all bits of `x` (the finaliser of
/// SplitMix64): a random number addressed by its position in a sequence.
std::uint64_t mix_bits(std::uint64_t x);

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

#include "models/neuron_isa/numerics/numerics.h"

/// Numeric choices that AWS does not publish (doc/spec/neuron-core.md, mark [V]). All of this file
/// is `known_by: invented`. Choices of order are documented at their loops:
///   reductions run in pattern order, one FP32 operation per element   alu.h   fold()
///   the partition order of a matmul, RN32(RN64(acc + a b)) per step   matmul.h
///   functions are correctly rounded                                   activation.h
///   products of an MX or double-row step are summed left to right     matmul.h
namespace trn::numerics::rules {

/// Whether FP_CONFIG.SATURATE applies to a destination (spec 20.25); integers always saturate.
constexpr bool saturates(element type) {
    return type >= element::bf16 && type <= element::fp8_e5m2;
}

/// Stochastic rounding: position of element `i` of partition `p`, with `n` elements per partition.
constexpr std::uint32_t rounding_position(std::uint32_t p, std::uint32_t n, std::uint32_t i) {
    return p * n + i;
}

/// Value that RANGE_SELECT writes for elements out of range.
inline constexpr float out_of_range = std::numeric_limits<float>::lowest();

// ---- random numbers (spec 3.8)

inline constexpr std::uint32_t lfsr_mask = 0x8020'0003;  ///< Galois, 32 bits
inline constexpr unsigned lfsr_steps = 32;               ///< steps per number

constexpr std::uint32_t lfsr_seed(std::uint32_t seed, std::uint32_t lane) {
    const std::uint32_t state = random_word(seed, lane);
    return state != 0 ? state : 1;
}
/// Word `i` of a lane's XORWOW state. A reset seeds with 0.
constexpr std::uint32_t xorwow_seed(std::uint32_t seed, std::uint32_t lane, std::uint32_t i) {
    return random_word(seed + 6 * lane, i);
}

/// RAND2: uniform in [0, 1) in steps of 2^-24.
constexpr float unit_interval(std::uint32_t random) {
    return static_cast<float>(random >> 8) * 0x1p-24f;
}

/// DROPOUT: whether r x 2^-32 < rate, compared exactly; false for NaN.
constexpr bool below_rate(std::uint32_t random, float rate) {
    return static_cast<double>(random) * 0x1p-32 < static_cast<double>(rate);
}

// ---- MX quantisation (spec 3.9)

inline constexpr int min_scale_exponent = -127, max_scale_exponent = 127;

}  // namespace trn::numerics::rules

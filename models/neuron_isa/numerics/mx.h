// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "models/neuron_isa/numerics/numerics.h"

/// Elements of four packed values, and blocks that share a scale (doc/spec/neuron-core.md 3.9).
namespace trn::numerics {

constexpr bool is_packed(element e) {
    return e >= element::fp8_e4m3fn_x4 && e <= element::fp4_e2m1_x4;
}

/// Unpacks the four values of each of `count` packed elements.
void unpack(element type, const std::uint8_t* source, float* destination, std::size_t count);

/// Partition of the scale of data partition `p`, each relative to the first of its tile (spec 3.9,
/// 20.2).
constexpr unsigned scale_partition(unsigned p) {
    return p / 32 * 32 + p % 32 / 8;
}

inline constexpr std::size_t mx_block = 32;  ///< values: 8 partitions x 4 per element

struct quantised_block {
    std::uint8_t scale;             ///< E8M0
    std::uint8_t values[mx_block];  ///< FP8 codes
};
/// Quantises to `type` (E4M3FN x4 or E5M2 x4). `ocp`: use the sample rule of older releases, with
/// Emax and saturation.
quantised_block quantise(element type, std::span<const float, mx_block> values, bool ocp);

}  // namespace trn::numerics

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

/// Element formats of the chip and arithmetic on runs of elements: decoded to FP32, computed in
/// FP32 in a defined order, encoded once. Little endian, any alignment, no state.
/// Spec: doc/dma_compute.md, "Numbers".
namespace trn::numerics {

/// Values as the field FROM of models/udma/dma_descriptor.regs.yaml.
enum class element : std::uint8_t {
    fp32,
    tf32,  ///< FP32 without its 13 low bits
    bf16,
    fp16,
    fp8_e3m4,
    fp8_e4m3,    ///< legacy: IEEE style, largest 240
    fp8_e4m3fn,  ///< OCP: no infinity, largest 448
    fp8_e5m2,
    int8,
    uint8,
    int16,
    uint16,
    int32,
    uint32,
    e8m0,           ///< a scale: 2^(code - 127), 0xff is NaN
    fp8_e4m3fn_x4,  ///< four values of a partition, the first in the lowest byte
    fp8_e5m2_x4,    ///< the same
    fp4_e2m1_x4,    ///< four values, the first in the lowest four bits
    int64,          ///< copied, not computed with
    uint64,
};
inline constexpr unsigned element_kinds = 14;      ///< of DMA compute
inline constexpr unsigned all_element_kinds = 20;  ///< of NeuronCores (doc/spec/neuron-core.md 3.1)

constexpr unsigned size_of(element e) {
    constexpr std::uint8_t bytes[all_element_kinds] = {4, 4, 2, 2, 1, 1, 1, 1, 1, 1,
                                                       2, 2, 4, 4, 1, 4, 4, 2, 8, 8};
    return bytes[static_cast<unsigned>(e)];
}
constexpr bool is_integer(element e) {
    return (e >= element::int8 && e <= element::uint32) || e >= element::int64;
}

struct rounding {
    bool saturate = false;    ///< too large becomes the largest finite value; integers always do so
    bool stochastic = false;  ///< else to nearest, ties to even; integers ignore it
    std::uint32_t seed = 0;   ///< of stochastic rounding
};

/// The random word that decides element `position` under `seed`.
constexpr std::uint32_t random_word(std::uint32_t seed, std::uint32_t position) {
    std::uint64_t z = (std::uint64_t{seed} << 32 | position) + 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return static_cast<std::uint32_t>((z ^ z >> 31) >> 32);
}

/// 2^(code - 127); 0xff is NaN.
constexpr float scale_value(std::uint8_t code) {
    if (code == 0) return 0x1p-127f;
    return std::bit_cast<float>(code == 0xff ? 0x7fc0'0000u : std::uint32_t{code} << 23);
}

/// Types up to UINT32.
void decode(element type, const std::uint8_t* from, float* to, std::size_t count);
/// `position` is the first element's number for stochastic rounding.
void encode(element type, const float* from, std::uint8_t* to, std::size_t count,
            const rounding& how = {}, std::uint32_t position = 0);

/// The bits of an integer type's value nearest to `value`, zero-extended to 32. Up to 4 bytes.
constexpr std::uint32_t saturated(element type, std::int64_t value) {
    const unsigned bits = 8 * size_of(type);
    const bool is_signed =
        type == element::int8 || type == element::int16 || type == element::int32;
    const std::int64_t span = std::int64_t{1} << (is_signed ? bits - 1 : bits);
    const std::int64_t low = is_signed ? -span : 0;
    return static_cast<std::uint32_t>(value < low    ? low
                                      : value < span ? value
                                                     : span - 1) &
           ~0u >> (32 - bits);
}

/// Makes every NaN the positive quiet NaN with empty payload. Which NaN a sum is depends on the
/// machine that adds; ours is always the same.
void make_nans_canonical(float* values, std::size_t count);

enum class operation : std::uint8_t { cast, add, min, max, scaled_add };

struct reduction {
    operation op;
    element from, to;
    rounding how;
    std::span<const float> scales;  ///< scaled_add: one for each operand
};

/// Combines operands[0], operands[1], ... element by element, in that order. At least one operand;
/// cast uses the first only. `result` may be the same bytes as an operand whose elements have
/// the size of the result's; otherwise it overlaps none.
void reduce(const reduction& r, std::span<const std::uint8_t* const> operands, std::uint8_t* result,
            std::size_t count);

}  // namespace trn::numerics

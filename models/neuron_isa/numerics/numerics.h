// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "models/neuron_isa/numerics/elements.h"

/// Element formats of the chip and arithmetic on runs of elements: decoded to FP32, computed in
/// FP32 in a defined order, encoded once. Little endian, any alignment, no state.
/// Spec: doc/dma_compute.md, "Numbers".
namespace trn::numerics {

/// Supports types up to UINT32.
void decode(element type, const std::uint8_t* source, float* destination, std::size_t count);
/// `position` is the number of the first element, for stochastic rounding.
void encode(element type, const float* source, std::uint8_t* destination, std::size_t count,
            const rounding& mode = {}, std::uint32_t position = 0);
/// As encode(), but every NaN becomes canonical: positive, quiet, with empty payload.
void encode_canonical(element type, const float* source, std::uint8_t* destination,
                      std::size_t count, const rounding& mode = {}, std::uint32_t position = 0);

/// Bits of the integer nearest to `value` in an integer type of up to 4 bytes, zero-extended.
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

/// Makes every NaN the positive quiet NaN with empty payload, since the NaN of a sum differs
/// between hosts.
void make_nans_canonical(float* values, std::size_t count);

enum class operation : std::uint8_t { cast, add, min, max, scaled_add };

struct reduction {
    operation op;
    element source_type, result_type;
    rounding mode;
    std::span<const float> scales;  ///< scaled_add: one per operand
};

/// Combines operands[0], operands[1], ... element by element, in that order. At least one operand;
/// cast uses only the first. `result` may equal an operand whose elements have the same size;
/// otherwise it must not overlap any.
void reduce(const reduction& r, std::span<const std::uint8_t* const> operands, std::uint8_t* result,
            std::size_t count);

}  // namespace trn::numerics

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "models/neuron_isa/instructions/table.h"

namespace trn::isa {

/// Relation of a native function's operands, as [partitions, elements].
enum class native_shape : std::uint8_t {
    elementwise,  ///< A, and DST and B where present, have one shape
    one_result,   ///< DST is [P, 1]
    one_index,    ///< A is [P, 1]
    with_count,   ///< DST has A's shape, B is [P, 1]
    free,         ///< only the numbers of partitions agree
};

/// A function that POOL_CALL calls by number: typical custom operators, computed natively (spec
/// 5.6, phase 1; all invented). Partitions are independent of each other.
struct native_function {
    std::uint32_t number;
    std::string_view name;
    operand_rule dst, a, b;
    need s0, s1;
    native_shape shape;
    bool equal_types;  ///< A and DST have one type
    std::string_view does;

    /// Whether B is a result.
    bool writes_b() const { return b.need != need::unused; }
};

std::span<const native_function> native_functions();
/// Null for a number without a function.
const native_function* find_native(std::uint32_t number);

/// Whether operand B of `i` is written.
bool writes_b(const instruction& i);

}  // namespace trn::isa

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "models/instructions/table.h"

namespace trn::isa {

/// How the operands of a native function belong together, [partitions, elements].
enum class native_shape : std::uint8_t {
    elementwise,  ///< A, DST and B, where present, of one shape
    one_result,   ///< DST [P, 1]
    one_index,    ///< A [P, 1]
    with_count,   ///< DST of A's shape, B [P, 1]
    free,         ///< only the partitions agree
};

/// A function that POOL_CALL calls by number: what custom operators are used for, computed natively
/// (spec 5.6, phase 1; all invented). Each partition is on its own.
struct native_function {
    std::uint32_t number;
    std::string_view name;
    operand_rule dst, a, b;
    need s0, s1;
    native_shape shape;
    bool equal_types;  ///< of A and DST
    std::string_view does;

    /// B is a result.
    bool writes_b() const { return b.need != need::unused; }
};

std::span<const native_function> native_functions();
/// Null for a number without a function.
const native_function* find_native(std::uint32_t number);

/// Whether operand B of `i` is written.
bool writes_b(const instruction& i);

}  // namespace trn::isa

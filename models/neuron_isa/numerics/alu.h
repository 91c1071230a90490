// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

/// Operators of the lane engines on runs of elements (doc/spec/neuron-core.md 3.4, 3.5).
namespace trn::numerics {

/// Values are the codes of OP0, OP1 and REDUCE_OP; REG_ALU uses some on integer registers.
enum class alu : std::uint8_t {
    bypass,
    add,
    subtract,
    mult,
    max,
    min,
    is_equal,
    not_equal,
    is_ge,
    is_gt,
    is_le,
    is_lt,
    logical_and,
    logical_or,
    logical_xor,
    pow,
    abs_max,
    abs_min,
    abs,
    square,
    relu,
    rsqrt,
    reciprocal,
    average,
    bitwise_and = 32,
    bitwise_or,
    bitwise_xor,
    bitwise_not,
    shift_left,
    shift_right,
    shift_right_arithmetic,  ///< REG_ALU only
};

constexpr bool is_bitvec(alu op) {
    return op >= alu::bitwise_and;
}
constexpr bool is_unary(alu op) {
    return op == alu::bypass || (op >= alu::abs && op <= alu::reciprocal) || op == alu::bitwise_not;
}

/// For arithmetic operators: x[i] = x[i] op y[i], or y[i] op x[i] if `reversed`; unary operators
/// always use x (known_by: invented). NaNs in results are not canonical.
void apply(alu op, float* x, const float* y, std::size_t count, bool reversed = false);
/// As above, with one y for all elements.
void apply(alu op, float* x, float y, std::size_t count, bool reversed = false);
/// x[i] = x[i] scale + bias in one pass; product and sum are each rounded.
void scale_and_add(float* x, float scale, float bias, std::size_t count);
/// For bitvec operators and bypass, on the low `width` bits. Precondition: other bits are 0.
void apply(alu op, std::uint32_t* x, const std::uint32_t* y, std::size_t count, unsigned width,
           bool reversed = false);
void apply(alu op, std::uint32_t* x, std::uint32_t y, std::size_t count, unsigned width,
           bool reversed = false);
float apply(alu op, float x, float y);

/// Start value of an accumulator for an arithmetic reduction.
float start_value(alu op);
/// acc = acc op x[i] for each element, in order (known_by: invented).
float fold(alu op, float acc, const float* x, std::size_t count);
std::uint32_t fold(alu op, std::uint32_t acc, const std::uint32_t* x, std::size_t count);
/// As above for `lanes` runs, run l at x + l * pitch, so that latencies of their sums overlap.
void fold(alu op, float* acc, const float* x, std::size_t pitch, std::size_t lanes,
          std::size_t count);

/// x[i] = acc = op(x[i], acc) for each element, in order. \returns the last acc
float scan(alu op, float acc, float* x, std::size_t count);

struct ordered_operator {
    alu op;
    bool reversed;
};
/// x[i] = r = second(first(x[i], r), y[i]) for each element, in order.
void scan(ordered_operator first, ordered_operator second, float r, float* x, const float* y,
          std::size_t count);

}  // namespace trn::numerics

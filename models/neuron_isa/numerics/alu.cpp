// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_isa/numerics/alu.h"

#include <cassert>
#include <cmath>
#include <limits>

#include "models/neuron_isa/numerics/exact.h"
#include "models/neuron_isa/numerics/wide_vectors.h"

namespace trn::numerics {

namespace {

/// Prefers NaN to numbers, and `a` to an equal `b`.
inline float larger(float a, float b) {
    return (b > a) | ((b != b) & (a == a)) ? b : a;
}
inline float smaller(float a, float b) {
    return (b < a) | ((b != b) & (a == a)) ? b : a;
}
inline float truth(bool value) {
    return value ? 1.0f : 0.0f;
}

/// Calls `visit` with a function of two floats.
template <class Visit>
void with_operator(alu op, Visit&& visit) {
    switch (op) {
    case alu::bypass:
        return visit([](float a, float) { return a; });
    case alu::add:
    case alu::average:  // the engine divides the sum
        return visit([](float a, float b) { return a + b; });
    case alu::subtract:
        return visit([](float a, float b) { return a - b; });
    case alu::mult:
        return visit([](float a, float b) { return a * b; });
    case alu::max:
        return visit(larger);
    case alu::min:
        return visit(smaller);
    case alu::is_equal:
        return visit([](float a, float b) { return truth(a == b); });
    case alu::not_equal:
        return visit([](float a, float b) { return truth(a != b); });
    case alu::is_ge:
        return visit([](float a, float b) { return truth(a >= b); });
    case alu::is_gt:
        return visit([](float a, float b) { return truth(a > b); });
    case alu::is_le:
        return visit([](float a, float b) { return truth(a <= b); });
    case alu::is_lt:
        return visit([](float a, float b) { return truth(a < b); });
    case alu::logical_and:
        return visit([](float a, float b) { return truth((a != 0) & (b != 0)); });
    case alu::logical_or:
        return visit([](float a, float b) { return truth((a != 0) | (b != 0)); });
    case alu::logical_xor:
        return visit([](float a, float b) { return truth((a != 0) != (b != 0)); });
    case alu::pow:
        return visit([](float a, float b) { return exact::pow(a, b); });
    case alu::abs_max:
        return visit([](float a, float b) { return std::fabs(a) > std::fabs(b) ? a : b; });
    case alu::abs_min:
        return visit([](float a, float b) { return std::fabs(a) < std::fabs(b) ? a : b; });
    case alu::abs:
        return visit([](float a, float) { return std::fabs(a); });
    case alu::square:
        return visit([](float a, float) { return a * a; });
    case alu::relu:
        return visit([](float a, float) { return larger(a, 0.0f); });
    case alu::rsqrt:
        return visit([](float a, float) { return exact::rsqrt(a); });
    case alu::reciprocal:
        return visit([](float a, float) { return 1.0f / a; });
    default:
        assert(!"no arithmetic operator");
    }
}

/// Calls `visit` with a function of two integers of `width` bits.
template <class Visit>
void with_bit_operator(alu op, unsigned width, Visit&& visit) {
    using word = std::uint32_t;
    const word mask = ~word{0} >> (32 - width);
    switch (op) {
    case alu::bypass:
        return visit([](word a, word) { return a; });
    case alu::bitwise_and:
        return visit([](word a, word b) { return a & b; });
    case alu::bitwise_or:
        return visit([](word a, word b) { return a | b; });
    case alu::bitwise_xor:
        return visit([](word a, word b) { return a ^ b; });
    case alu::bitwise_not:
        return visit([mask](word a, word) { return ~a & mask; });
    case alu::shift_left:
        return visit([=](word a, word b) { return b < width ? a << (b & 31) & mask : 0; });
    case alu::shift_right:
        return visit([=](word a, word b) { return b < width ? a >> (b & 31) : 0; });
    default:
        assert(!"no bitvec operator");
    }
}

template <class T, class Second, class Function>
void apply_each(T* x, const Second& y, std::size_t count, bool reversed, Function f) {
    if (reversed)
        for (std::size_t i = 0; i < count; ++i) x[i] = f(y(i), x[i]);
    else
        for (std::size_t i = 0; i < count; ++i) x[i] = f(x[i], y(i));
}

}  // namespace

TRN_WIDE_VECTORS
void apply(alu op, float* x, const float* y, std::size_t count, bool reversed) {
    with_operator(op, [&](auto f) {
        apply_each(
            x, [y](std::size_t i) { return y[i]; }, count, reversed && !is_unary(op), f);
    });
}

TRN_WIDE_VECTORS
void apply(alu op, float* x, float y, std::size_t count, bool reversed) {
    with_operator(op, [&](auto f) {
        apply_each(
            x, [y](std::size_t) { return y; }, count, reversed && !is_unary(op), f);
    });
}

TRN_WIDE_VECTORS
void scale_and_add(float* x, float scale, float bias, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) x[i] = x[i] * scale + bias;
}

TRN_WIDE_VECTORS
void apply(alu op, std::uint32_t* x, const std::uint32_t* y, std::size_t count, unsigned width,
           bool reversed) {
    with_bit_operator(op, width, [&](auto f) {
        apply_each(
            x, [y](std::size_t i) { return y[i]; }, count, reversed && !is_unary(op), f);
    });
}

TRN_WIDE_VECTORS
void apply(alu op, std::uint32_t* x, std::uint32_t y, std::size_t count, unsigned width,
           bool reversed) {
    with_bit_operator(op, width, [&](auto f) {
        apply_each(
            x, [y](std::size_t) { return y; }, count, reversed && !is_unary(op), f);
    });
}

float apply(alu op, float x, float y) {
    apply(op, &x, y, 1);
    return x;
}

float start_value(alu op) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    switch (op) {
    case alu::mult:
    case alu::logical_and:
        return 1;
    case alu::max:
        return -infinity;
    case alu::min:
    case alu::abs_min:
        return infinity;
    default:
        return 0;
    }
}

float fold(alu op, float acc, const float* x, std::size_t count) {
    with_operator(op, [&](auto f) {
        for (std::size_t i = 0; i < count; ++i) acc = f(acc, x[i]);
    });
    return acc;
}

std::uint32_t fold(alu op, std::uint32_t acc, const std::uint32_t* x, std::size_t count) {
    with_bit_operator(op, 32, [&](auto f) {
        for (std::size_t i = 0; i < count; ++i) acc = f(acc, x[i]);
    });
    return acc;
}

void fold(alu op, float* acc, const float* x, std::size_t pitch, std::size_t lanes,
          std::size_t count) {
    with_operator(op, [&](auto f) {
        constexpr std::size_t together = 8;  // accumulators whose latencies overlap
        std::size_t l = 0;
        for (; l + together <= lanes; l += together) {
            float sum[together];
            for (std::size_t j = 0; j < together; ++j) sum[j] = acc[l + j];
            for (std::size_t i = 0; i < count; ++i)
                for (std::size_t j = 0; j < together; ++j)
                    sum[j] = f(sum[j], x[(l + j) * pitch + i]);
            for (std::size_t j = 0; j < together; ++j) acc[l + j] = sum[j];
        }
        for (; l < lanes; ++l)
            for (std::size_t i = 0; i < count; ++i) acc[l] = f(acc[l], x[l * pitch + i]);
    });
}

namespace {

using function = float (*)(float, float);

function function_of(alu op) {
    function found = nullptr;
    with_operator(op, [&found](auto f) { found = f; });
    return found;
}
/// Calls `f` with the operands in the order (first, second), or reversed.
template <class F>
float ordered(F f, bool reversed, float a, float b) {
    return reversed ? f(b, a) : f(a, b);
}

}  // namespace

float scan(alu op, float acc, float* x, std::size_t count) {
    with_operator(op, [&](auto f) {
        for (std::size_t i = 0; i < count; ++i) x[i] = acc = f(x[i], acc);
    });
    return acc;
}

void scan(ordered_operator first, ordered_operator second, float r, float* x, const float* y,
          std::size_t count) {
    const function f = function_of(first.op), g = function_of(second.op);
    const bool swaps_first = first.reversed && !is_unary(first.op),
               swaps_second = second.reversed && !is_unary(second.op);
    for (std::size_t i = 0; i < count; ++i)
        x[i] = r = ordered(g, swaps_second, ordered(f, swaps_first, x[i], r), y[i]);
}

}  // namespace trn::numerics

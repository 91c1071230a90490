// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

/// Functions of the Scalar engine; exp, reciprocal and rsqrt of other engines too. Each result is
/// the correctly rounded FP32 value of the exact function, so it is the same on every host
/// (known_by: invented; silicon uses tables of polynomials whose accuracy is not published). Spec:
/// doc/spec/neuron-core.md 3.6, 20.5, 20.31.
namespace trn::numerics {

/// Values are the codes of ACTIVATE's field OP0.
enum class activation : std::uint8_t {
    copy,
    square,
    abs,
    sign,
    relu,
    prelu,
    sigmoid,
    tanh,
    exp,
    gelu,
    gelu_dx,
    gelu_apprx_tanh,
    gelu_apprx_sigmoid,
    gelu_apprx_sigmoid_dx,
    silu,
    silu_dx,
    softplus,
    mish,
    erf,
    erf_dx,
    log,
    sin,
    arctan,
    sqrt,
    rsqrt,
    reciprocal,
};
inline constexpr unsigned activation_kinds = 26;

/// x[i] = f(x[i]). `parameter` is prelu's slope. NaNs in results are not canonical.
void activate(activation f, float* x, std::size_t count, float parameter = 0);

constexpr bool has_promised_range(activation f) {
    return f >= activation::log;
}
/// Whether AWS promises results of `f` at `x`; false for NaN.
bool in_promised_range(activation f, float x);

}  // namespace trn::numerics

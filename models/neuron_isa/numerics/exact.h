// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Functions computed with enough precision to round correctly to FP32. Slow: activation.cpp calls
/// them for about one element in 10,000, where binary64 is not precise enough.
namespace trn::numerics::exact {

/// Correctly rounded a^b; special cases as C's pow.
float pow(float a, float b);
/// Correctly rounded 1/sqrt(x); 1/-0 is -Inf, below zero NaN.
float rsqrt(float x);

/// Correctly rounded values of the functions of doc/spec/neuron-core.md 3.6, for finite x.
float exp(float x);
float sigmoid(float x);
float tanh(float x);
float gelu(float x);
float gelu_dx(float x);
float gelu_apprx_tanh(float x);
float gelu_apprx_sigmoid(float x);
float gelu_apprx_sigmoid_dx(float x);
float silu(float x);
float silu_dx(float x);
float softplus(float x);
float mish(float x);
float erf(float x);
float erf_dx(float x);
float log(float x);
float sin(float x);
float arctan(float x);

}  // namespace trn::numerics::exact

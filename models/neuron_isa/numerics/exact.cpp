// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_isa/numerics/exact.h"

#include <cmath>
#include <limits>

namespace trn::numerics::exact {

namespace {

#ifdef __SIZEOF_FLOAT128__
using quad = __float128;  // 113 bits
#else
using quad = long double;
#endif

/// A constant as the sum of three doubles.
constexpr quad sum(double a, double b, double c) {
    return quad{a} + quad{b} + quad{c};
}
constexpr quad ln2 = sum(0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56, 0x1.7b57a079a1934p-111);
constexpr quad one_by_sqrt_pi =
    sum(0x1.20dd750429b6dp-1, 0x1.1ae3a914fed80p-57, -0x1.3cbbebf65f145p-112);
constexpr quad sqrt_half =
    sum(0x1.6a09e667f3bcdp-1, -0x1.bdd3413b26456p-55, 0x1.57d3e3adec175p-109);
constexpr quad sqrt_2_by_pi =
    sum(0x1.9884533d43651p-1, -0x1.cbc0d30ebfd15p-55, -0x1.c7402c7d60cfbp-111);
constexpr quad c_1702 = quad{1702} / 1000;
constexpr quad c_044715 = quad{44715} / 1000000;

/// e^x - 1.
quad expm1(quad x) {
    if (x > 11000) return quad{std::numeric_limits<double>::infinity()};
    if (x < -11000) return -1;
    const int k = static_cast<int>(std::nearbyint(static_cast<double>(x / ln2)));
    constexpr int halvings = 6;
    const quad r = (x - k * ln2) / (1 << halvings);
    quad term = 1, series = 0;
    for (int n = 16; n > 0; --n) term = 1 + r * term / (n + 1);
    series = r * term;
    for (int i = 0; i < halvings; ++i) series *= series + 2;
    quad scale = 1;
    for (int i = 0; i < (k < 0 ? -k : k); ++i) scale *= k < 0 ? quad{0.5} : quad{2};
    return series * scale + (scale - 1);
}
/// e^x, without the cancellation of expm1(x) + 1 below zero.
quad exp_any(quad x) {
    return x < 0 ? 1 / (1 + expm1(-x)) : expm1(x) + 1;
}
quad logistic(quad x) {
    return 1 / (2 + expm1(-x));
}

/// erfc(z) for z >= 0.
quad erfc_positive(quad z) {
    const quad gauss = exp_any(-z * z);
    if (z < 3) {
        quad term = z, series = z;
        for (int n = 1; term > series * quad{0x1p-120}; ++n) {
            term *= 2 * z * z / (2 * n + 1);
            series += term;
        }
        return 1 - 2 * one_by_sqrt_pi * gauss * series;
    }
    quad fraction = 0;  // continued fraction of Mills' ratio
    for (int n = 200; n > 0; --n) fraction = static_cast<quad>(n) / 2 / (z + fraction);
    return gauss * one_by_sqrt_pi / (z + fraction);
}
/// erf(z) for |z| < 3, by the series whose terms all have z's sign.
quad erf_small(quad z) {
    quad term = z, series = z;
    for (int n = 1; n < 200; ++n) {
        term *= 2 * z * z / (2 * n + 1);
        series += term;
    }
    return 2 * one_by_sqrt_pi * exp_any(-z * z) * series;
}
/// (1 + erf(x / sqrt 2)) / 2
quad normal_cdf(quad x) {
    const quad z = x * sqrt_half;
    return z < 0 ? erfc_positive(-z) / 2 : 1 - erfc_positive(z) / 2;
}

float rounded(quad value) {
    return static_cast<float>(value);
}

/// x f(x), where f(0) = 1/2 and f grows. For small x, x / 2 may be halfway between two FP32 values:
/// the next term of the series, which is positive, decides.
template <class F>
float product(float x, F f) {
    if (x == 0) return x;
    if (std::fabs(x) < 0x1p-60f) return rounded(quad{x} / 2 + quad{std::fabs(x)} * quad{0x1p-90});
    return rounded(x * f(quad{x}));
}

/// For functions whose exact values are known to be far enough from halfway between FP32 values.
float by_long_double(long double value) {
    return static_cast<float>(value);
}

/// Whether every number within 2^-48 of `y` rounds to one FP32 value; if so, `result` is it.
bool decided(double y, float& result) {
    const auto low = static_cast<float>(y * (1 - 0x1p-48));
    result = static_cast<float>(y * (1 + 0x1p-48));
    return low == result;
}

}  // namespace

float pow(float a, float b) {
    float result;
    const double y = std::pow(double{a}, double{b});
    if (y == 0 || !std::isfinite(y)) return static_cast<float>(y);
    if (decided(y, result)) return result;
    return by_long_double(std::pow(static_cast<long double>(a), static_cast<long double>(b)));
}

float rsqrt(float x) {
    float result;
    const double y = 1 / std::sqrt(double{x});
    if (x == 0 || !std::isfinite(y)) return static_cast<float>(y);
    if (decided(y, result)) return result;
    return by_long_double(1 / std::sqrt(static_cast<long double>(x)));
}

float exp(float x) {
    return rounded(exp_any(x));
}
float sigmoid(float x) {
    return rounded(logistic(x));
}
float tanh(float x) {
    const quad m = expm1(2 * quad{std::fabs(x)});
    return std::copysign(std::fabs(x) > 100 ? 1.0f : rounded(m / (m + 2)), x);
}
float gelu(float x) {
    return product(x, normal_cdf);
}
float gelu_dx(float x) {
    if (x < -100) return -0.0f;
    const quad q = x;
    return rounded(normal_cdf(q) + q * exp_any(-q * q / 2) * sqrt_2_by_pi / 2);
}
float gelu_apprx_tanh(float x) {
    return product(x,
                   [](quad q) { return logistic(2 * sqrt_2_by_pi * (q + c_044715 * q * q * q)); });
}
float gelu_apprx_sigmoid(float x) {
    return product(x, [](quad q) { return logistic(c_1702 * q); });
}
float gelu_apprx_sigmoid_dx(float x) {
    if (x < -1000) return -0.0f;
    const quad z = c_1702 * x, s = logistic(z);
    return rounded(s + z * s * logistic(-z));
}
float silu(float x) {
    return product(x, logistic);
}
float silu_dx(float x) {
    if (x < -1000) return -0.0f;
    const quad q = x, s = logistic(q);
    return rounded(s + q * s * logistic(-q));
}
float softplus(float x) {
    const quad e = exp_any(x);
    if (x < -60) return rounded(e - e * e / 2);
    if (x > 60) return rounded(x + exp_any(-quad{x}));
    // ln(1 + e): one step of Newton's method from the long double value.
    const quad y = std::log1p(static_cast<long double>(e));
    return rounded(y + (e - expm1(y)) / (1 + expm1(y)));
}
float mish(float x) {
    if (x > 100) return x;
    const quad e = exp_any(x), n = e * (e + 2);
    return rounded(x * (n / (n + 2)));
}
float erf(float x) {
    const quad z = std::fabs(x);
    const quad y = z < 3 ? erf_small(z) : 1 - erfc_positive(z);
    return std::copysign(rounded(y), x);
}
float erf_dx(float x) {
    return rounded(2 * one_by_sqrt_pi * exp_any(-quad{x} * x));
}
float log(float x) {
    return by_long_double(std::log(static_cast<long double>(x)));
}
float sin(float x) {
    return by_long_double(std::sin(static_cast<long double>(x)));
}
float arctan(float x) {
    return by_long_double(std::atan(static_cast<long double>(x)));
}

}  // namespace trn::numerics::exact

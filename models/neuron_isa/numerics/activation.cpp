// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_isa/numerics/activation.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <limits>

#include "models/neuron_isa/numerics/exact.h"
#include "models/neuron_isa/numerics/wide_vectors.h"

// Each function is computed in binary64 with an error bound. Where the whole error interval rounds
// to one FP32 value, that is the result; otherwise exact.h computes it. So the host's vectorisation
// and fused multiply-adds do not affect results.

namespace trn::numerics {

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
// Error bound of the values below, relative to `magnitude`.
constexpr double relative_error = 0x1p-42;

/// A value whose distance from the exact value is at most magnitude * relative_error.
struct estimate {
    double value, magnitude;
    estimate(double v) : value(v), magnitude(v) {}
    estimate(double v, double m) : value(v), magnitude(m) {}
};

inline double clamp(double x, double low, double high) {  // returns NaN for NaN
    x = x < low ? low : x;
    return x > high ? high : x;
}

/// e^x = (1 + tail) * scale for |x| <= 700.
struct exponential {
    double tail, scale;
    explicit exponential(double x) {
        constexpr double to_whole = 0x1.8p52;
        const double shifted = x * 0x1.71547652b82fep+0 + to_whole;
        const double k = shifted - to_whole;
        const double r = (x - k * 0x1.62e42fefa0000p-1) - k * 0x1.cf79abc9e3b3ap-40;
        double p = 1.0 / 6227020800;
        p = p * r + 1.0 / 479001600;
        p = p * r + 1.0 / 39916800;
        p = p * r + 1.0 / 3628800;
        p = p * r + 1.0 / 362880;
        p = p * r + 1.0 / 40320;
        p = p * r + 1.0 / 5040;
        p = p * r + 1.0 / 720;
        p = p * r + 1.0 / 120;
        p = p * r + 1.0 / 24;
        p = p * r + 1.0 / 6;
        p = p * r + 0.5;
        tail = r + r * r * p;
        scale = std::bit_cast<double>((std::bit_cast<std::uint64_t>(shifted) + 1023) << 52);
    }
    double value() const { return scale + tail * scale; }
    double minus_one() const { return tail * scale + (scale - 1); }
};

inline double exp_of(double x) {
    return exponential(clamp(x, -700, 700)).value();
}
inline double logistic(double x) {
    return 1 / (1 + exp_of(-x));
}

/// erfc(z) e^(z^2) for 0 <= z <= 11: Chebyshev series of (1 + 2z) erfcx(z) in 1/(z + 3.75),
/// degree 18, relative error below 2^-50.
inline double scaled_erfc(double z) {
    const double u = 0x1.ae8ba2e8ba2e9p+0 - 0x1.41d1745d1745dp+3 / (z + 3.75);
    double p = 0x1.2619acbd34953p-34;
    p = p * u + 0x1.d1bb63e7aecf2p-29;
    p = p * u - 0x1.7b56dd6755b9fp-30;
    p = p * u - 0x1.1088b69c4e006p-24;
    p = p * u + 0x1.d1d2b190c35e9p-25;
    p = p * u + 0x1.f1c965cb6b596p-21;
    p = p * u - 0x1.15e220eb42b77p-19;
    p = p * u - 0x1.7467a04054a9cp-17;
    p = p * u + 0x1.072e85b5c1242p-14;
    p = p * u - 0x1.213644cfa92e0p-17;
    p = p * u - 0x1.2e59591727198p-10;
    p = p * u + 0x1.aeff0c7670e72p-8;
    p = p * u - 0x1.6b16e5449c22bp-6;
    p = p * u + 0x1.b2d7673a2eb9ep-5;
    p = p * u - 0x1.7f278defa01f6p-4;
    p = p * u + 0x1.d5fa9e7795b65p-4;
    p = p * u - 0x1.1376ab0705a19p-4;
    p = p * u - 0x1.6428cf1bd619ap-4;
    p = p * u + 0x1.457f75930c042p+0;
    return p / (1 + 2 * z);
}

/// P(x) = (1 + erf(x / sqrt 2)) / 2; `gauss` = e^(-x^2/2).
inline double normal_cdf(double x, double gauss) {
    const double z = clamp(std::fabs(x) * 0x1.6a09e667f3bcdp-1, 0, 11);
    const double tail = 0.5 * gauss * scaled_erfc(z);
    return x < 0 ? tail : 1 - tail;
}

// ---- one class per function; `low` and `high` are the limits at infinite x

struct sigmoid_f {
    static constexpr float low = 0, high = 1;
    static constexpr auto exact = exact::sigmoid;
    static estimate at(double x) { return logistic(x); }
};
struct tanh_f {
    static constexpr float low = -1, high = 1;
    static constexpr auto exact = exact::tanh;
    static estimate at(double x) {
        const double m = exponential(clamp(2 * std::fabs(x), 0, 700)).minus_one();
        return std::copysign(m / (m + 2), x);
    }
};
struct exp_f {
    static constexpr float low = 0, high = infinity;
    static constexpr auto exact = exact::exp;
    static estimate at(double x) { return exp_of(x); }
};
struct gelu_f {
    static constexpr float low = -0.0f, high = infinity;
    static constexpr auto exact = exact::gelu;
    static estimate at(double x) { return x * normal_cdf(x, exp_of(x * x * -0.5)); }
};
struct gelu_dx_f {
    static constexpr float low = -0.0f, high = 1;
    static constexpr auto exact = exact::gelu_dx;
    static estimate at(double x) {
        const double gauss = exp_of(x * x * -0.5);
        const double cdf = normal_cdf(x, gauss), slope = x * gauss * 0x1.9884533d43651p-2;
        return {cdf + slope, cdf + std::fabs(slope)};
    }
};
struct gelu_apprx_tanh_f {
    static constexpr float low = -0.0f, high = infinity;
    static constexpr auto exact = exact::gelu_apprx_tanh;
    static estimate at(double x) {
        return x * logistic(2 * 0x1.9884533d43651p-1 * (x + 0.044715 * x * x * x));
    }
};
struct gelu_apprx_sigmoid_f {
    static constexpr float low = -0.0f, high = infinity;
    static constexpr auto exact = exact::gelu_apprx_sigmoid;
    static estimate at(double x) { return x * logistic(1.702 * x); }
};
/// s + z s (1 - s)
inline estimate logistic_slope(double z) {
    const double s = logistic(z), second = z * s * logistic(-z);
    return {s + second, s + std::fabs(second)};
}
struct gelu_apprx_sigmoid_dx_f {
    static constexpr float low = -0.0f, high = 1;
    static constexpr auto exact = exact::gelu_apprx_sigmoid_dx;
    static estimate at(double x) { return logistic_slope(1.702 * x); }
};
struct silu_f {
    static constexpr float low = -0.0f, high = infinity;
    static constexpr auto exact = exact::silu;
    static estimate at(double x) { return x * logistic(x); }
};
struct silu_dx_f {
    static constexpr float low = -0.0f, high = 1;
    static constexpr auto exact = exact::silu_dx;
    static estimate at(double x) { return logistic_slope(x); }
};
struct softplus_f {
    static constexpr float low = 0, high = infinity;
    static constexpr auto exact = exact::softplus;
    static estimate at(double x) { return x > 100 ? x : std::log1p(std::exp(x)); }
};
struct mish_f {
    static constexpr float low = -0.0f, high = infinity;
    static constexpr auto exact = exact::mish;
    static estimate at(double x) {
        const double e = exponential(clamp(x, -700, 300)).value(), n = e * (e + 2);
        return x * (n / (n + 2));
    }
};
struct erf_f {
    static constexpr float low = -1, high = 1;
    static constexpr auto exact = exact::erf;
    static estimate at(double x) { return std::erf(x); }
};
struct erf_dx_f {
    static constexpr float low = 0, high = 0;
    static constexpr auto exact = exact::erf_dx;
    static estimate at(double x) { return 0x1.20dd750429b6dp+0 * exp_of(-(x * x)); }
};
struct log_f {
    static constexpr float low = std::numeric_limits<float>::quiet_NaN(), high = infinity;
    static constexpr auto exact = exact::log;
    static estimate at(double x) { return std::log(x); }
};
struct sin_f {
    static constexpr float low = std::numeric_limits<float>::quiet_NaN(), high = low;
    static constexpr auto exact = exact::sin;
    static estimate at(double x) { return std::sin(x); }
};
struct arctan_f {
    static constexpr float low = -0x1.921fb6p+0f, high = 0x1.921fb6p+0f;  // pi / 2
    static constexpr auto exact = exact::arctan;
    static estimate at(double x) { return std::atan(x); }
};

template <class F>
void run(F, float* x, std::size_t count) {
    constexpr std::size_t block = 256;
    float result[block];
    for (std::size_t done = 0; done < count; done += block, x += block) {
        const std::size_t n = std::min(block, count - done);
        std::uint32_t differs = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const estimate y = F::at(static_cast<double>(x[i]));
            const double error = y.magnitude * relative_error;
            const float lower = static_cast<float>(y.value - error);
            const float upper = static_cast<float>(y.value + error);
            result[i] = lower;
            differs |= std::bit_cast<std::uint32_t>(lower) ^ std::bit_cast<std::uint32_t>(upper);
            differs |= std::fabs(x[i]) < infinity ? 0u : 1u;
        }
        if (differs != 0)
            for (std::size_t i = 0; i < n; ++i) {
                const estimate y = F::at(static_cast<double>(x[i]));
                const double error = y.magnitude * relative_error;
                if (std::isnan(x[i]))
                    result[i] = x[i];
                else if (std::isinf(x[i]))
                    result[i] = x[i] < 0 ? F::low : F::high;
                else if (std::bit_cast<std::uint32_t>(static_cast<float>(y.value - error)) !=
                         std::bit_cast<std::uint32_t>(static_cast<float>(y.value + error)))
                    result[i] = F::exact(x[i]);
            }
        std::copy_n(result, n, x);
    }
}

template <class F>
void map(float* x, std::size_t count, F f) {
    for (std::size_t i = 0; i < count; ++i) x[i] = f(x[i]);
}

}  // namespace

TRN_WIDE_VECTORS
void activate(activation f, float* x, std::size_t count, float parameter) {
    switch (f) {
    case activation::copy:
        return;
    case activation::square:
        return map(x, count, [](float a) { return a * a; });
    case activation::abs:
        return map(x, count, [](float a) { return std::fabs(a); });
    case activation::sign:  // returns zero and NaN unchanged
        return map(x, count, [](float a) { return a > 0 ? 1.0f : a < 0 ? -1.0f : a; });
    case activation::relu:
        return map(x, count, [](float a) { return a < 0 ? 0.0f : a; });
    case activation::prelu:
        return map(x, count, [parameter](float a) { return a < 0 ? parameter * a : a; });
    case activation::sigmoid:
        return run(sigmoid_f(), x, count);
    case activation::tanh:
        return run(tanh_f(), x, count);
    case activation::exp:
        return run(exp_f(), x, count);
    case activation::gelu:
        return run(gelu_f(), x, count);
    case activation::gelu_dx:
        return run(gelu_dx_f(), x, count);
    case activation::gelu_apprx_tanh:
        return run(gelu_apprx_tanh_f(), x, count);
    case activation::gelu_apprx_sigmoid:
        return run(gelu_apprx_sigmoid_f(), x, count);
    case activation::gelu_apprx_sigmoid_dx:
        return run(gelu_apprx_sigmoid_dx_f(), x, count);
    case activation::silu:
        return run(silu_f(), x, count);
    case activation::silu_dx:
        return run(silu_dx_f(), x, count);
    case activation::softplus:
        return run(softplus_f(), x, count);
    case activation::mish:
        return run(mish_f(), x, count);
    case activation::erf:
        return run(erf_f(), x, count);
    case activation::erf_dx:
        return run(erf_dx_f(), x, count);
    case activation::log:
        return run(log_f(), x, count);
    case activation::sin:
        return run(sin_f(), x, count);
    case activation::arctan:
        return run(arctan_f(), x, count);
    case activation::sqrt:  // IEEE: correctly rounded
        return map(x, count, [](float a) { return std::sqrt(a); });
    case activation::rsqrt:
        return map(x, count, exact::rsqrt);
    case activation::reciprocal:
        return map(x, count, [](float a) { return 1 / a; });
    }
    assert(!"no such function");
}

bool in_promised_range(activation f, float x) {
    constexpr float pi = 0x1.921fb6p+1f;
    const float magnitude = std::fabs(x);
    switch (f) {
    case activation::log:
        return x >= 0x1p-64f && x <= 0x1p64f;
    case activation::sin:
        return magnitude <= pi;
    case activation::arctan:
        return magnitude <= pi / 2;
    case activation::sqrt:
        return x >= 0x1p-116f && x <= 0x1p118f;
    case activation::rsqrt:
        return x >= 0x1p-87f && x <= 0x1p97f;
    case activation::reciprocal:
        return magnitude >= 0x1p-42f && magnitude <= 0x1p42f;
    default:
        return true;
    }
}

}  // namespace trn::numerics

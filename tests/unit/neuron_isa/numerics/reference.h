// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "models/neuron_isa/numerics/numerics.h"

/// Reference arithmetic independent of the model: codes are decoded by ldexp, values are rounded by
/// searching both neighbours in the list of all values. Slow.
namespace trn::test {

using numerics::element;

struct float_format {
    element type;
    unsigned exponent_bits, mantissa_bits;
    int bias;
    bool has_infinity;
    double largest, min_normal, least;  // as the hardware fact sheet lists them
    unsigned finite_codes;              // per sign, with zero

    unsigned bits() const { return 1 + exponent_bits + mantissa_bits; }
    std::uint32_t magnitudes() const { return 1u << (bits() - 1); }
    std::uint32_t infinity() const { return ((1u << exponent_bits) - 1) << mantissa_bits; }
    std::uint32_t overflow() const { return has_infinity ? infinity() : magnitudes() - 1; }
    bool finite(std::uint32_t magnitude) const { return magnitude < overflow(); }

    /// Value of a finite magnitude, or of the one after the largest, as if the range continued.
    double value(std::uint32_t magnitude) const {
        const int exponent = static_cast<int>(magnitude >> mantissa_bits);
        const double mantissa = magnitude & ((1u << mantissa_bits) - 1);
        const double fraction = std::ldexp(mantissa, -static_cast<int>(mantissa_bits));
        return exponent == 0 ? std::ldexp(fraction, 1 - bias)
                             : std::ldexp(1 + fraction, exponent - bias);
    }
};

inline const float_format narrow_formats[] = {
    {element::bf16, 8, 7, 127, true, 0x1.fep127, 0x1p-126, 0x1p-133, 255 * 128},
    {element::fp16, 5, 10, 15, true, 65504, 0x1p-14, 0x1p-24, 31 * 1024},
    {element::fp8_e3m4, 3, 4, 3, true, 15.5, 0.25, 0x1p-6, 112},
    {element::fp8_e4m3, 4, 3, 7, true, 240, 0x1p-6, 0x1p-9, 120},
    {element::fp8_e4m3fn, 4, 3, 7, false, 448, 0x1p-6, 0x1p-9, 127},
    {element::fp8_e5m2, 5, 2, 15, true, 57344, 0x1p-14, 0x1p-16, 124},
};
inline const float_format tf32_format = {element::tf32, 8,        10,       127,       true,
                                         0x1.ffcp127,   0x1p-126, 0x1p-136, 255 * 1024};

/// Magnitude of |x| in a format; x is not a NaN. With stochastic rounding `random` selects the
/// neighbour.
class neighbours {
public:
    explicit neighbours(const float_format& f) : f_(f) {
        for (std::uint32_t m = 0; f.finite(m); ++m) values_.push_back(f.value(m));
        values_.push_back(f.value(f.overflow()));  // the value after the largest
    }
    std::uint32_t round(float x, bool saturate, const std::uint32_t* random) const {
        const auto last = static_cast<std::uint32_t>(values_.size() - 2);
        const std::uint32_t too_large = saturate ? last : f_.overflow();
        const double wanted = std::fabs(static_cast<double>(x));
        if (wanted >= values_.back()) return too_large;
        const auto above = std::upper_bound(values_.begin(), values_.end(), wanted);
        auto code = static_cast<std::uint32_t>(above - values_.begin()) - 1;
        const double a = values_[code], b = values_[code + 1];
        if (random != nullptr) {
            code += std::floor(std::ldexp((wanted - a) / (b - a), 32)) > *random ? 1 : 0;
        } else {
            const double middle = (a + b) / 2;
            if (wanted > middle || (wanted == middle && code % 2 == 1)) ++code;
        }
        return code > last ? too_large : code;
    }
    const std::vector<double>& values() const { return values_; }

private:
    const float_format& f_;
    std::vector<double> values_;
};

struct integer_format {
    element type;
    double least, most;
};
inline const integer_format integer_formats[] = {
    {element::int8, -128, 127},
    {element::uint8, 0, 255},
    {element::int16, -32768, 32767},
    {element::uint16, 0, 65535},
    {element::int32, -2147483648.0, 2147483647.0},
    {element::uint32, 0, 4294967295.0},
};

}  // namespace trn::test

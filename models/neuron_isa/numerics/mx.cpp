// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_isa/numerics/mx.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>

#include "models/neuron_isa/numerics/rules.h"

namespace trn::numerics {

namespace {

constexpr std::array<float, 16> e2m1_values = {0,     0.5f,  1,  1.5f,  2,  3,  4,  6,
                                               -0.0f, -0.5f, -1, -1.5f, -2, -3, -4, -6};

element value_type(element packed) {
    return packed == element::fp8_e4m3fn_x4 ? element::fp8_e4m3fn : element::fp8_e5m2;
}

}  // namespace

void unpack(element type, const std::uint8_t* source, float* destination, std::size_t count) {
    assert(is_packed(type));
    if (type != element::fp4_e2m1_x4)
        return decode(value_type(type), source, destination, count * 4);
    for (std::size_t i = 0; i < count * 2; ++i) {
        destination[2 * i] = e2m1_values[source[i] & 15];
        destination[2 * i + 1] = e2m1_values[source[i] >> 4];
    }
}

quantised_block quantise(element type, std::span<const float, mx_block> values, bool ocp) {
    const element code = value_type(type);
    quantised_block out{};
    float largest = 0;
    bool finite = true;
    for (const float v : values) {
        finite &= std::isfinite(v);
        largest = std::max(largest, std::fabs(v));
    }
    if (!finite) {
        out.scale = 0xff;
        const float nan = std::nanf("");
        encode(code, &nan, out.values, 1);
        std::fill_n(out.values + 1, mx_block - 1, out.values[0]);
        return out;
    }
    const int emax = type == element::fp8_e4m3fn_x4 ? 8 : 15;
    int exponent = rules::min_scale_exponent;
    if (largest != 0)
        exponent = std::clamp(std::ilogb(largest) - (ocp ? emax : emax - 1),
                              rules::min_scale_exponent, rules::max_scale_exponent);
    out.scale = static_cast<std::uint8_t>(exponent + 127);
    std::array<float, mx_block> scaled;
    for (std::size_t i = 0; i < mx_block; ++i) scaled[i] = std::ldexp(values[i], -exponent);
    encode(code, scaled.data(), out.values, mx_block, {.saturate = ocp});
    return out;
}

}  // namespace trn::numerics

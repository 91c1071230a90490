// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_core/tile/written_numbers.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "models/neuron_isa/numerics/numerics.h"
#include "models/neuron_isa/numerics/rules.h"

namespace trn {

using numerics::element;

void written_numbers::convert(element type, const float* values, std::size_t count,
                              std::uint32_t position, std::uint8_t* destination) const {
    const numerics::rounding mode{
        .saturate = settings_.saturate && numerics::rules::saturates(type),
        .stochastic = settings_.stochastic,
        .seed = settings_.seed};
    numerics::encode_canonical(type, values, destination, count, mode, position);
}

bool written_numbers::has_nan(element type) {
    return type <= element::fp8_e5m2 || (type >= element::e8m0 && type <= element::fp8_e5m2_x4);
}

void written_numbers::detect(element type, const std::uint8_t* bits, std::size_t count) {
    if (!detects(type)) return;
    if (type == element::e8m0) {
        constexpr std::uint8_t nan = 0xff;
        numerical_ = settings_.nan_detect && std::find(bits, bits + count, nan) != bits + count;
        return;
    }
    if (type == element::fp8_e4m3fn_x4 || type == element::fp8_e5m2_x4) {
        constexpr std::size_t packed = 4;
        const bool e5m2 = type == element::fp8_e5m2_x4;
        return detect(e5m2 ? element::fp8_e5m2 : element::fp8_e4m3fn, bits, count * packed);
    }
    constexpr std::size_t run = 512;  // elements
    std::array<float, run> values;
    for (std::size_t done = 0; done < count && !numerical_; done += run) {
        const std::size_t n = std::min(run, count - done);
        numerics::decode(type, bits + done * size_of(type), values.data(), n);
        numerical_ = std::any_of(values.begin(), values.begin() + n, [this](float x) {
            return (settings_.nan_detect && std::isnan(x)) ||
                   (settings_.inf_detect && std::isinf(x));
        });
    }
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_isa/numerics/random.h"

#include "models/neuron_isa/numerics/rules.h"

namespace trn::numerics {

void lfsr::seed(std::uint32_t seed, std::uint32_t lane) {
    state_ = rules::lfsr_seed(seed, lane);
}

std::uint32_t lfsr::next() {
    for (unsigned i = 0; i < rules::lfsr_steps; ++i)
        state_ = (state_ >> 1) ^ ((state_ & 1) != 0 ? rules::lfsr_mask : 0);
    return state_;
}

xorwow::xorwow(std::uint32_t lane, unsigned generator, std::uint32_t seed) {
    for (unsigned i = 0; i < words; ++i)
        state_[i] = rules::xorwow_seed(seed, lane, generator * words + i);
}

std::uint32_t xorwow::next() {
    auto& [x, y, z, w, v, d] = state_;
    const std::uint32_t t = x ^ (x >> 2);
    x = y;
    y = z;
    z = w;
    w = v;
    v = (v ^ (v << 4)) ^ (t ^ (t << 1));
    d += 362437;
    return v + d;
}

}  // namespace trn::numerics

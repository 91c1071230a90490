// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

/// Random number generators of the engines' lanes (doc/spec/neuron-core.md 3.8).
namespace trn::numerics {

/// Galois LFSR of the Vector engine on v2 and v3 (polynomial and seed known_by: invented).
class lfsr {
public:
    explicit lfsr(std::uint32_t lane = 0) { seed(0, lane); }
    void seed(std::uint32_t seed, std::uint32_t lane);
    std::uint32_t next();

private:
    std::uint32_t state_;
};

/// Marsaglia's XORWOW: used by GPSIMD from v3 on, and four per lane by Vector on v4.
class xorwow {
public:
    static constexpr unsigned words = 6;  ///< x, y, z, w, v, d
    using state = std::array<std::uint32_t, words>;

    /// `generator` is the number within the lane. A reset seeds with 0.
    explicit xorwow(std::uint32_t lane = 0, unsigned generator = 0, std::uint32_t seed = 0);
    std::uint32_t next();
    const state& get() const { return state_; }
    void set(const state& s) { state_ = s; }

private:
    state state_;
};

}  // namespace trn::numerics

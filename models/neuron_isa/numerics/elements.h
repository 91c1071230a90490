// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

/// Element formats of the chip. Spec: doc/dma_compute.md, "Numbers".
namespace trn::numerics {

/// Values are the codes of the field FROM in models/dma/udma/dma_descriptor.regs.yaml.
enum class element : std::uint8_t {
    fp32,
    tf32,  ///< FP32 without its 13 low bits
    bf16,
    fp16,
    fp8_e3m4,
    fp8_e4m3,    ///< legacy: IEEE style, largest 240
    fp8_e4m3fn,  ///< OCP: no infinity, largest 448
    fp8_e5m2,
    int8,
    uint8,
    int16,
    uint16,
    int32,
    uint32,
    e8m0,           ///< a scale: 2^(code - 127), 0xff is NaN
    fp8_e4m3fn_x4,  ///< four values of a partition, the first in the lowest byte
    fp8_e5m2_x4,    ///< as above
    fp4_e2m1_x4,    ///< four values, the first in the lowest four bits
    int64,          ///< only copied
    uint64,
};
inline constexpr unsigned element_kinds = 14;      ///< kinds that DMA compute supports
inline constexpr unsigned all_element_kinds = 20;  ///< of NeuronCores (neuron-core.md 3.1)

constexpr unsigned size_of(element e) {
    constexpr std::uint8_t bytes[all_element_kinds] = {4, 4, 2, 2, 1, 1, 1, 1, 1, 1,
                                                       2, 2, 4, 4, 1, 4, 4, 2, 8, 8};
    return bytes[static_cast<unsigned>(e)];
}
constexpr bool is_integer(element e) {
    return (e >= element::int8 && e <= element::uint32) || e >= element::int64;
}

struct rounding {
    /// Values too large become the largest finite value; integers always saturate.
    bool saturate = false;
    bool stochastic = false;  ///< false: to nearest, ties to even; integers ignore it
    std::uint32_t seed = 0;   ///< seed of stochastic rounding
};

/// The random word that rounds element `position` with `seed`.
constexpr std::uint32_t random_word(std::uint32_t seed, std::uint32_t position) {
    std::uint64_t z = (std::uint64_t{seed} << 32 | position) + 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return static_cast<std::uint32_t>((z ^ z >> 31) >> 32);
}

/// 2^(code - 127); 0xff is NaN.
constexpr float scale_value(std::uint8_t code) {
    if (code == 0) return 0x1p-127f;
    return std::bit_cast<float>(code == 0xff ? 0x7fc0'0000u : std::uint32_t{code} << 23);
}

}  // namespace trn::numerics

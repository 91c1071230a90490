// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sw-stubs/driver/include/trn_driver.h"

// What a compute packet must give, by plain and slow means: scenarios and tools compare the device
// with it. It shares nothing with the models; the rules stand in doc/dma_compute.md, "Numbers".

namespace trn::reference {

unsigned element_size(trn_element type);

/// One element, as it stands in memory.
double decode(trn_element type, std::uint32_t code);
/// `value` is one that FP32 holds; `random` decides stochastic rounding.
std::uint32_t encode(trn_element type, double value, bool saturate,
                     const std::uint32_t* random = nullptr);
/// The random word of an element of a packet.
std::uint32_t random_word(std::uint32_t seed, std::uint32_t position);

/// The result of `packet` (one copy of it). `sources` is the bytes of all sources, one behind the
/// other; of a gather the indices and the whole table; of a scatter the indices and the data.
/// `before` is what the destination held: of an accumulation, or the table of a scatter.
std::vector<std::uint8_t> result_of(const trn_compute_packet& packet,
                                    std::span<const std::uint8_t> sources,
                                    std::span<const std::uint8_t> before);

/// Where the two differ, in words; NaNs of any payload are equal.
std::optional<std::string> difference(trn_element type, std::span<const std::uint8_t> expected,
                                      std::span<const std::uint8_t> found);

}  // namespace trn::reference

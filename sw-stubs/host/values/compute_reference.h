// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sw-stubs/driver/include/trn_driver.h"

// Reference results of compute packets, for scenarios and tools, implemented simply. It shares no
// code with the models; rules: doc/dma_compute.md, "Numbers".

namespace trn::reference {

unsigned element_size(trn_element type);

/// The value of an element's code in memory.
double decode(trn_element type, std::uint32_t code);
/// Rounds `value` once. `random`: selects stochastic rounding; FP32 can represent `value` then.
std::uint32_t encode(trn_element type, double value, bool saturate,
                     const std::uint32_t* random = nullptr);
/// The random word of an element of a packet.
std::uint32_t random_word(std::uint32_t seed, std::uint32_t position);

/// The result of `packet`, once. `sources`: the concatenated bytes of all sources; of a gather the
/// indices and the whole table; of a scatter the indices and the data. `before`: the destination's
/// former contents, for an accumulation or the table of a scatter.
std::vector<std::uint8_t> result_of(const trn_compute_packet& packet,
                                    std::span<const std::uint8_t> sources,
                                    std::span<const std::uint8_t> before);

/// Text of the first difference; NaNs with different payloads are equal.
std::optional<std::string> difference(trn_element type, std::span<const std::uint8_t> expected,
                                      std::span<const std::uint8_t> found);

}  // namespace trn::reference

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "models/instructions/data_path.h"

namespace trn {

/// CRC-16/CCITT (polynomial 0x1021, start 0xffff) of the bytes of a data-path instruction's tiles:
/// in pattern order, partition after partition (NeuronCore spec 10.3). Of inputs: A, then B, as
/// they are before it. Of outputs: DST, then B where that is a result, as they are after it.
/// Nothing where a word cannot be read, or a memory has errors, whose reads are counted.
std::optional<std::uint16_t> crc_of_inputs(isa::core_memory& memory, isa::engine e,
                                           const isa::instruction& i);
std::optional<std::uint16_t> crc_of_outputs(isa::core_memory& memory, isa::engine e,
                                            const isa::instruction& i);

}  // namespace trn

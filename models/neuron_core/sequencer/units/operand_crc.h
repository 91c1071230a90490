// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "models/neuron_isa/instructions/data_path.h"

namespace trn {

/// CRC-16/CCITT (polynomial 0x1021, start 0xffff) of the bytes of a data-path instruction's tiles,
/// in pattern order, partition by partition (NeuronCore spec 10.3). Inputs are A, then B, before
/// the instruction; outputs are DST, then B if it is a result, after it. Nothing if a word cannot
/// be read, or if a memory has errors, because its reads are counted.
std::optional<std::uint16_t> crc_of_inputs(isa::core_memory& memory, isa::engine e,
                                           const isa::instruction& i);
std::optional<std::uint16_t> crc_of_outputs(isa::core_memory& memory, isa::engine e,
                                            const isa::instruction& i);

}  // namespace trn

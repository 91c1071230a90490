// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "models/neuron_isa/instructions/table.h"

namespace trn::isa {

using bytes = std::array<std::uint8_t, max_words * word_bytes>;

/// Engine and generation that an instruction is checked for.
struct core_traits {
    isa::engine engine;
    isa::generation generation;
    std::uint32_t sbuf_partition_bytes;
    std::uint32_t psum_partition_bytes = 16'384;

    std::uint32_t partition_bytes(space s) const {
        return s == space::psum ? psum_partition_bytes : sbuf_partition_bytes;
    }
};

/// Checks header, opcode, engine, generation and LONG, in this order, before the wait of the
/// instruction (spec 20.15). `header` is the first 16 bytes.
std::optional<fault> check_header(std::span<const std::uint8_t> header, engine e, generation g);

struct decoded {
    instruction value;
    const row* kind = nullptr;
    /// Bit per operand, bit 7 for other fields: set when unused bits are not zero.
    std::uint8_t unused_bits_set = 0;
};

/// Wait condition and update of a header.
wait_condition wait_of(std::span<const std::uint8_t> header);
semaphore_update update_of(std::span<const std::uint8_t> header);

/// Reads the fields that the opcode's row uses; checks nothing. Precondition: the opcode exists and
/// `word` has 64 bytes, 128 when its row is long.
decoded decode(std::span<const std::uint8_t> word);

/// Inverse of decode(); bytes after a short instruction are 0. Precondition: the opcode exists.
bytes encode(const instruction& i);

/// Checks that follow the wait and need no memory contents, in the order of spec 20.15: operators,
/// then DST, A, B, S0, S1, each with type, partition rule and bounds; then shapes. Before it checks
/// the bounds, it resolves registers of operands in `d` (see data_path::execute()).
std::optional<fault> check(decoded& d, const core_traits& core,
                           std::span<const std::uint32_t, register_count> registers);

/// Whether the result of check() depends on registers; otherwise it holds for every execution.
bool reads_registers(const instruction& i);

bool exists(numerics::element type, generation g);

}  // namespace trn::isa

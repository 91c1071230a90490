// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "models/instructions/table.h"

namespace trn::isa {

using bytes = std::array<std::uint8_t, max_words * word_bytes>;

/// Where and for whom an instruction is checked.
struct core_traits {
    isa::engine engine;
    isa::generation generation;
    std::uint32_t sbuf_partition_bytes;
    std::uint32_t psum_partition_bytes = 16'384;

    std::uint32_t partition_bytes(space s) const {
        return s == space::psum ? psum_partition_bytes : sbuf_partition_bytes;
    }
};

/// The checks that come before the wait: header, opcode, engine, generation, LONG, in this order
/// (spec 20.15). `header` is the first 16 bytes.
std::optional<fault> check_header(std::span<const std::uint8_t> header, engine e, generation g);

struct decoded {
    instruction what;
    const row* kind = nullptr;
    /// Bit per operand, bit 7 for the rest: bits are set that the instruction does not use.
    std::uint8_t unused_bits_set = 0;
};

/// Wait condition and update of a header.
wait_condition wait_of(std::span<const std::uint8_t> header);
semaphore_update update_of(std::span<const std::uint8_t> header);

/// Reads the fields that the opcode's row uses; checks nothing. Precondition: the opcode exists and
/// `word` has 64 bytes, 128 when its row is long.
decoded decode(std::span<const std::uint8_t> word);

/// The inverse; bytes after a short instruction are 0. Precondition: the opcode exists.
bytes encode(const instruction& i);

/// The checks after the wait that need no memory contents, in the order of spec 20.15: operators,
/// then DST, A, B, S0, S1, each type, partition rule, bounds; then whether the shapes agree.
/// Resolves registers of operands into `d` (data_path::execute() says how) before their bounds are
/// checked.
std::optional<fault> check(decoded& d, const core_traits& core,
                           std::span<const std::uint32_t, register_count> registers);

/// Whether check() depends on registers: otherwise its answer holds for every execution.
bool reads_registers(const instruction& i);

bool exists(numerics::element type, generation g);

}  // namespace trn::isa

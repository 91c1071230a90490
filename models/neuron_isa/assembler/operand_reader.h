// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "models/neuron_isa/assembler/cursor.h"
#include "models/neuron_isa/instructions/instruction.h"

namespace trn::isa {

/// Reads the operands of instructions from a line. Members throw line_error.
class operand_reader {
public:
    explicit operand_reader(cursor& input) : in_(input) {}

    /// "S[4]>=R3". A register sets flag::wait_reg in `flags`; null: registers are errors.
    wait_condition wait(std::uint8_t* flags);
    /// "S[8]+=1". A register sets flag::update_reg in `flags`; null: registers are errors.
    semaphore_update update(std::uint8_t* flags);
    std::uint8_t alu_operator();
    /// An activation function.
    std::uint8_t function();
    /// "sbuf[0, 64]"
    location address();
    /// "sbuf[0:128, 4096 + R3] fp32 [512:1, 4:512] index sbuf[32, 0]"
    tile_operand tile();
    /// "fp32(1.5)", "i32(R3)", "sbuf[0, 64] fp32"
    scalar_operand scalar();
    /// "(row, column, rows, columns)"
    std::uint8_t pe_tile_bits();

private:
    /// Reads S[n] or E[n]. \returns whether it is an event
    bool semaphore(std::uint8_t& index);
    /// Reads one of the signs; returns its number in `known`, from 1.
    std::uint8_t sign(std::span<const std::string_view> known, const char* expected);
    /// Reads a value; or a register, which sets `bit` in `flags`.
    std::int32_t amount(std::uint8_t* flags, std::uint8_t bit);
    space memory();
    std::uint8_t partition() { return static_cast<std::uint8_t>(in_.number(0, 127)); }
    std::uint32_t offset() { return static_cast<std::uint32_t>(in_.number(0, 0x3ffff)); }

    cursor& in_;
};

}  // namespace trn::isa

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/instructions/instruction.h"

/// Programs of the engines as text. Grammar: doc/models/instructions.md, "Text form".
namespace trn::isa {

/// The instruction stream of one engine.
struct stream {
    std::optional<isa::engine> engine;  ///< none: the text has no .engine line
    std::vector<std::uint8_t> words;    ///< 64 bytes each
    std::vector<int> lines;             ///< source line of each word, from 1
};

/// One stream without an engine, or at most one of each engine. \throws config_error with all
/// mistakes of the text.
std::vector<stream> assemble(std::string_view text, const std::string& file);

/// One line of text for each instruction, labels where branches go. Words that are no instruction
/// become `.word` lines, so that assembling the text always gives the same bytes. Precondition:
/// whole words.
std::string disassemble(std::span<const std::uint8_t> words);

/// What one instruction says, as a line of the text form without its label.
std::string text_of(const instruction& i);

}  // namespace trn::isa

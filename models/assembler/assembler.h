// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/assembler/program_set.h"
#include "models/instructions/instruction.h"

/// Programs of the engines as text. Grammar: doc/models/instructions.md, "Text form", and
/// doc/programs.md for what a loader reads.
namespace trn::isa {

/// One stream without an engine, or at most one of each engine. \throws config_error with all
/// mistakes of the text.
std::vector<stream> assemble(std::string_view text, const std::string& file);

/// The same with tensors, transfers and all else that the text declares.
program_set assemble_set(std::string_view text, const std::string& file);

/// One line of text for each instruction, labels where branches go. Words that are no instruction
/// become `.word` lines, so that assembling the text always gives the same bytes. Precondition:
/// whole words.
std::string disassemble(std::span<const std::uint8_t> words);

/// The text of a whole set: assembling it gives the same set but for its lines, which become
/// comments.
std::string disassemble(const program_set& set);

/// What one instruction says, as a line of the text form without its label.
std::string text_of(const instruction& i);

}  // namespace trn::isa

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/neuron_isa/assembler/program_set.h"
#include "models/neuron_isa/instructions/instruction.h"

/// Programs of the engines as text. Grammar: doc/models/neuron_isa/instructions.md, "Text form",
/// and doc/programs.md for what a loader reads.
namespace trn::isa {

/// Returns one stream without an engine, or at most one per engine. \throws config_error with all
/// errors of the text
std::vector<stream> assemble(std::string_view text, const std::string& file);

/// As assemble(), with the tensors, transfers and other declarations of the text.
program_set assemble_set(std::string_view text, const std::string& file);

/// One line of text per instruction, with labels at targets of branches. Words that are not an
/// instruction become `.word` lines, so that assembling the text returns the same bytes.
/// Precondition: `words` has whole words.
std::string disassemble(std::span<const std::uint8_t> words);

/// The text of a whole set. Assembling it returns the same set, except that its source lines become
/// comments.
std::string disassemble(const program_set& set);

/// An instruction as a line of the text form, without a label.
std::string text_of(const instruction& i);

}  // namespace trn::isa

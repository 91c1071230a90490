// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "platform/framework/registers/generator/schema.h"

/// Register descriptions in the formats of other tools: SystemRDL 2.0.
namespace trn::registers {

/// A description in another format, and the block to read from it.
struct foreign_text {
    std::string name;  ///< of the file, for messages
    std::string text;
    std::string
        block;  ///< an addrmap, an address block or a memory map; empty: the only or outermost one
};

/// A block whose registers are in `items`, with places of the foreign text.
struct foreign_block {
    block_spec block;
    std::vector<std::string>
        left_out;  ///< a sentence with file, line and column for each thing that was not read
};

/// \throws config_error
foreign_block read_rdl(const foreign_text& file);

/// \throws config_error when the format has no words for it: registers whose arrays interleave, for
/// example.
std::string write_rdl(const block_spec& block, const std::string& file);

struct yaml_text {
    std::string text;
    std::vector<config::place> origins;  ///< for each line, from 1: what it was made from
};
yaml_text write_yaml(const block_spec& block, const std::string& file);

/// The block as its YAML description is read; mistakes have the places of the foreign text.
block_spec complete(const foreign_block& read, const foreign_text& file);

}  // namespace trn::registers

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "platform/framework/registers/generator/schema.h"

/// Register descriptions in the formats of other tools: SystemRDL 2.0 and IP-XACT (IEEE 1685-2014).
namespace trn::registers {

/// A description in another format, and the block to read from it.
struct foreign_text {
    std::string name;  ///< of the file, for messages
    std::string text;
    std::string
        block;  ///< name of an addrmap, address block or memory map; "": the only or last one
};

/// A block whose registers are in `items`, with places of the foreign text.
struct foreign_block {
    block_spec block;
    std::vector<std::string> left_out;  ///< sentences with a place, for what was not read
};

/// \throws config_error
foreign_block read_rdl(const foreign_text& file);
foreign_block read_ipxact(const foreign_text& file);

/// \throws config_error when arrays interleave in a way that the format does not have
std::string write_rdl(const block_spec& block, const std::string& file);
std::string write_ipxact(const block_spec& block, const std::string& file);

struct yaml_text {
    std::string text;
    std::vector<config::place> origins;  ///< for each line, from 1: what it was made from
};
yaml_text write_yaml(const block_spec& block, const std::string& file);

/// The block as its YAML description is read; mistakes have the places of the foreign text.
block_spec complete(const foreign_block& read, const foreign_text& file);

}  // namespace trn::registers

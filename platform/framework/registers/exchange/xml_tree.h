// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <list>
#include <map>
#include <string>
#include <string_view>

#include "platform/framework/registers/exchange/foreign_reader.h"

namespace trn::registers {

/// The namespace of what IP-XACT has no element for.
inline constexpr std::string_view ipxact_extension = "https://trnvp.invalid/registers/1";

struct xml_element {
    std::string name;  ///< without prefix
    std::string name_space;
    std::map<std::string, std::string> attributes = {};
    std::string text = {};  ///< without the spaces at both ends
    std::list<xml_element> children = {};
    config::place place = {};

    /// The first child with this name, or null.
    const xml_element* find(std::string_view child_name) const;
    bool is_ours() const { return name_space == ipxact_extension; }
};

/// The outermost element. Bounded: 64 levels, 400,000 elements. Document types, and with them
/// entities of files and entities that grow, are refused.
xml_element read_xml(const foreign_reader& reader);

}  // namespace trn::registers

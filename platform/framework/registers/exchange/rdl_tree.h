// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "platform/framework/registers/exchange/rdl_values.h"

namespace trn::registers::rdl {

struct property {
    rdl::value value = {};
    std::string modifier = {};  ///< "posedge" of `posedge intr`
    config::place place = {};
};

/// An instance with its properties: defaults and dynamic assignments are applied.
struct node {
    component_kind kind{};
    std::string name;
    config::place place;
    std::map<std::string, property> properties = {};
    std::list<node> children = {};
    std::vector<std::uint64_t> dims = {};
    std::optional<std::uint64_t> address = {}, stride = {}, align = {}, msb = {}, lsb = {};

    /// The property, or null.
    const property* find(const std::string& property_name) const {
        const auto found = properties.find(property_name);
        return found == properties.end() ? nullptr : &found->second;
    }
};

/// The addrmap with this name, or the last one of the file.
node elaborate(foreign_reader& reader, const component& file);

}  // namespace trn::registers::rdl

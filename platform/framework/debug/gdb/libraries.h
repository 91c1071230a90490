// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/framework/debug/harts.h"

namespace trn::gdb {

/// Libraries that programs load while they run: GDB reads their symbols (GDB manual, E.15 "Library
/// List Format"). Empty functions: there are none.
struct library_source {
    /// The list, an XML document, of the process of this hart.
    std::function<std::string(const debug_hart&)> list = {};
    /// Code addresses at which the list of its process may have changed.
    std::function<std::vector<std::uint64_t>(const debug_hart&)> events = {};
};

std::string escape_xml(std::string_view text);

}  // namespace trn::gdb

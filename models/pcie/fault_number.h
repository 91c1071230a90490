// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "platform/kernel/introspection.h"

namespace trn::pcie {

/// A fault's argument that is a number up to `most`; `fallback` when it is not there. Throws
/// fault_error.
inline std::uint64_t fault_number(const fault_arguments& arguments, std::string_view name,
                                  std::uint64_t fallback,
                                  std::uint64_t most = std::numeric_limits<std::uint32_t>::max()) {
    const auto found = arguments.find(name);
    if (found == arguments.end()) return fallback;
    const std::string& text = found->second;
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value > most)
        throw fault_error(std::string(name) + " is a number from 0 to " + std::to_string(most));
    return value;
}

}  // namespace trn::pcie

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "platform/framework/kernel/introspection.h"

namespace trn {

/// The argument `name` of a fault: an unsigned number (12, 0x1f) from `least` to `most`;
/// `otherwise` when it is missing. \throws fault_error with the argument and its range
std::uint64_t fault_number(const fault_arguments& arguments, std::string_view name,
                           std::uint64_t least, std::uint64_t most,
                           std::optional<std::uint64_t> otherwise = std::nullopt);

/// A required signed number.
std::int64_t fault_signed(const fault_arguments& arguments, std::string_view name,
                          std::int64_t least, std::int64_t most);

/// The argument `count`: how many times a fault happens; 1 by default.
inline std::uint64_t fault_count(const fault_arguments& arguments) {
    return fault_number(arguments, "count", 0, 0xffff'ffff, 1);
}

}  // namespace trn

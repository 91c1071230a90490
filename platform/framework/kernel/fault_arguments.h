// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "platform/framework/kernel/introspection.h"

namespace trn {

/// The argument `name` of a fault, an unsigned number (12, 0x1f) from `least` to `most`;
/// `otherwise` when it was not given. \throws fault_error that names the argument and says what is
/// allowed
std::uint64_t fault_number(const fault_arguments& arguments, std::string_view name,
                           std::uint64_t least, std::uint64_t most,
                           std::optional<std::uint64_t> otherwise = std::nullopt);

/// The same for a signed number, which must be given.
std::int64_t fault_signed(const fault_arguments& arguments, std::string_view name,
                          std::int64_t least, std::int64_t most);

/// How often a fault shall happen: its argument `count`, once when it was not given.
inline std::uint64_t fault_count(const fault_arguments& arguments) {
    return fault_number(arguments, "count", 0, 0xffff'ffff, 1);
}

}  // namespace trn

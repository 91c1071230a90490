// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/kernel/fault_arguments.h"

#include <fmt/format.h>

#include <variant>

#include "platform/framework/config/units.h"

namespace trn {

std::uint64_t fault_number(const fault_arguments& arguments, std::string_view name,
                           std::uint64_t least, std::uint64_t most,
                           std::optional<std::uint64_t> otherwise) {
    const auto found = arguments.find(name);
    if (found == arguments.end()) {
        if (otherwise) return *otherwise;
        throw fault_error(fmt::format("{} is missing", name));
    }
    const auto parsed = config::parse_unsigned(found->second);
    const auto* value = std::get_if<std::uint64_t>(&parsed);
    if (value == nullptr || *value < least || *value > most)
        throw fault_error(fmt::format("{} must be a number from {} to {}", name, least, most));
    return *value;
}

}  // namespace trn

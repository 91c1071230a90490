// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/kernel/fault_arguments.h"

#include <fmt/format.h>

#include <variant>

#include "platform/framework/config/units.h"

namespace trn {

namespace {

template <class T>
T number_within(const fault_arguments::value_type& given, T least, T most,
                config::parsed<T> (*parse)(std::string_view)) {
    const auto parsed = parse(given.second);
    const auto* value = std::get_if<T>(&parsed);
    if (value == nullptr || *value < least || *value > most)
        throw fault_error(
            fmt::format("{} must be a number from {} to {}", given.first, least, most));
    return *value;
}

}  // namespace

std::uint64_t fault_number(const fault_arguments& arguments, std::string_view name,
                           std::uint64_t least, std::uint64_t most,
                           std::optional<std::uint64_t> otherwise) {
    const auto found = arguments.find(name);
    if (found != arguments.end())
        return number_within(*found, least, most, &config::parse_unsigned);
    if (otherwise) return *otherwise;
    throw fault_error(fmt::format("{} is missing", name));
}

std::int64_t fault_signed(const fault_arguments& arguments, std::string_view name,
                          std::int64_t least, std::int64_t most) {
    const auto found = arguments.find(name);
    if (found == arguments.end()) throw fault_error(fmt::format("{} is missing", name));
    return number_within(*found, least, most, &config::parse_signed);
}

}  // namespace trn

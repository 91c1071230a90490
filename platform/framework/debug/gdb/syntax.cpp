// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/debug/gdb/syntax.h"

#include <charconv>

namespace trn::gdb {

std::optional<std::uint64_t> number(std::string_view hex) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(hex.data(), hex.data() + hex.size(), value, 16);
    if (error != std::errc{} || end != hex.data() + hex.size()) return std::nullopt;
    return value;
}

std::pair<std::string_view, std::string_view> cut(std::string_view text, char separator) {
    const auto end = text.find(separator);
    if (end == std::string_view::npos) return {text, {}};
    return {text.substr(0, end), text.substr(end + 1)};
}

std::optional<range> parse_range(std::string_view text) {
    const auto [first, second] = cut(text, ',');
    const auto address = number(first), length = number(second);
    if (!address || !length) return std::nullopt;
    return range{*address, *length};
}

}  // namespace trn::gdb

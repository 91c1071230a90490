// SPDX-License-Identifier: Apache-2.0
#include "platform/app/host_options/location_text.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "platform/framework/config/units.h"

namespace trn {

namespace {

std::variant<std::uint64_t, std::string> parse_offset(std::string_view text) {
    const auto number = config::parse_unsigned(text);
    if (const auto* value = std::get_if<std::uint64_t>(&number)) return *value;
    const auto size = config::parse_bytes(text);
    if (const auto* value = std::get_if<bytes>(&size)) return value->value;
    return fmt::format("'{}' is not an offset: give bytes or a size such as 16 MiB", text);
}

/// The number after `prefix`, if `text` consists of the two.
std::optional<std::uint32_t> numbered(std::string_view text, std::string_view prefix) {
    if (!text.starts_with(prefix)) return std::nullopt;
    text.remove_prefix(prefix.size());
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::string_view trimmed(std::string_view text) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    return text;
}

}  // namespace

std::variant<location, std::string> parse_location(std::string_view text) {
    const auto separator = text.find('@');
    const auto name = trimmed(text.substr(0, separator));
    location result;
    if (separator != std::string_view::npos) {
        const auto offset = parse_offset(trimmed(text.substr(separator + 1)));
        if (const auto* wrong = std::get_if<std::string>(&offset)) return *wrong;
        result.offset = std::get<std::uint64_t>(offset);
    }
    if (name == "host") return result;
    if (name == "axi" && separator != std::string_view::npos) {
        result.space = location::kind::axi;
        return result;
    }
    if (const auto stack = numbered(name, "hbm")) {
        result.space = location::kind::hbm;
        result.number = *stack;
        return result;
    }
    if (const auto core = numbered(name, "sbuf")) {
        result.space = location::kind::sbuf;
        result.number = *core;
        return result;
    }
    return fmt::format(
        "'{}' is not a place: host, hbm0 to hbm3, sbuf0 to sbuf7, each with @OFFSET, or "
        "axi@ADDRESS",
        text);
}

}  // namespace trn

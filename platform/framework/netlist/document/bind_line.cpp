// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/netlist/document/bind_line.h"

#include <fmt/format.h>

#include <utility>

namespace trn {

namespace {

using config::parsed;
using config::refusal;

constexpr std::string_view form = "write it like 'noc.initiator -> hbm0.in @ 0x0 + 36 GiB'";

refusal unreadable(std::string message) {
    return {mistake::bad_bind_line, std::move(message), std::string(form)};
}

std::string_view trim(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
}

/// Splits text at `separator`; the second part is nullopt if it does not occur.
std::pair<std::string_view, std::optional<std::string_view>> cut(std::string_view text,
                                                                 std::string_view separator) {
    const auto position = text.find(separator);
    if (position == std::string_view::npos) return {trim(text), std::nullopt};
    return {trim(text.substr(0, position)), trim(text.substr(position + separator.size()))};
}

/// Stores a parsed value; returns the error, if any.
template <class T, class U>
std::optional<refusal> get(const parsed<T>& value, U& stored) {
    if (const auto* why = std::get_if<refusal>(&value)) return *why;
    stored = std::get<T>(value);
    return std::nullopt;
}

parsed<plan::range> parse_window(std::string_view text) {
    const auto [range, target_base] = cut(text, "=>");
    const auto [base, size] = cut(range, "+");
    if (!size) return unreadable(fmt::format("'@ {}' has no '+ size'", text));
    plan::range window;
    bytes length;
    if (const auto why = get(parse_address(base), window.base)) return *why;
    if (const auto why = get(config::parse_bytes(*size), length)) return *why;
    window.size = length.value;
    if (target_base)
        if (const auto why = get(parse_address(*target_base), window.target_base)) return *why;
    return window;
}

}  // namespace

parsed<std::uint64_t> parse_address(std::string_view text) {
    auto number = config::parse_unsigned(text);
    if (std::holds_alternative<std::uint64_t>(number)) return number;
    const auto size = config::parse_bytes(text);
    if (const auto* value = std::get_if<bytes>(&size)) return value->value;
    return std::get<refusal>(number);
}

parsed<bind_line::end> parse_end(std::string_view text) {
    bind_line::end end;
    auto [module, port] = cut(text, ".");
    if (!port)
        return unreadable(fmt::format("'{}' names no socket: module.socket was expected", text));
    if (const auto bracket = port->find('['); bracket != std::string_view::npos) {
        if (!port->ends_with(']')) return unreadable(fmt::format("'{}' has no ']'", text));
        const auto number = port->substr(bracket + 1, port->size() - bracket - 2);
        std::uint64_t index = 0;
        if (const auto why = get(config::parse_unsigned(trim(number)), index)) return *why;
        end.index = index;
        port = port->substr(0, bracket);
    }
    if (!config::is_word(module) || !config::is_word(*port))
        return unreadable(fmt::format("'{}' is not module.socket", text));
    end.module = module;
    end.port = *port;
    return end;
}

parsed<bind_line> parse_bind_line(std::string_view text) {
    bind_line line;
    line.both_ways = text.find("<->") != std::string_view::npos;
    const auto [left, right] = cut(text, line.both_ways ? "<->" : "->");
    if (!right) return unreadable("there is no '->' or '<->' in this bind line");
    const auto [target, window] = cut(*right, "@");
    if (const auto why = get(parse_end(left), line.source)) return *why;
    if (target != "none")
        if (const auto why = get(parse_end(target), line.target)) return *why;
    if (window)
        if (const auto why = get(parse_window(*window), line.window)) return *why;
    return line;
}

}  // namespace trn

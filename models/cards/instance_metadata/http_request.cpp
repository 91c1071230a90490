// SPDX-License-Identifier: Apache-2.0
#include "models/cards/instance_metadata/http_request.h"

#include <algorithm>
#include <cctype>

namespace trn::metadata {

namespace {

constexpr std::string_view line_end = "\r\n";

bool same_word(std::string_view a, std::string_view b) {
    return std::ranges::equal(
        a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t";
    const auto first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// Removes and returns the part of `text` before `separator`; also removes the separator.
std::string_view take_until(std::string_view& text, std::string_view separator) {
    const auto part = text.substr(0, text.find(separator));
    text.remove_prefix(std::min(text.size(), part.size() + separator.size()));
    return part;
}

/// Whether each line has a name, and no blank in front of or after it (RFC 9112 5.1, 5.2).
bool are_fields(std::string_view lines) {
    while (!lines.empty()) {
        auto line = take_until(lines, line_end);
        if (line.empty()) continue;
        const auto name = line.substr(0, line.find(':'));
        if (name.empty() || name.size() == line.size() ||
            name.find_first_of(" \t") != std::string_view::npos)
            return false;
    }
    return true;
}

/// The path of a target in origin form or absolute form (RFC 9112 3.2).
std::string_view path_of(std::string_view target) {
    constexpr std::string_view scheme = "http://";
    if (same_word(target.substr(0, scheme.size()), scheme)) {
        target.remove_prefix(scheme.size());
        target.remove_prefix(std::min(target.size(), target.find('/')));
        if (target.empty()) return "/";
    }
    return target.starts_with('/') ? target : std::string_view{};
}

}  // namespace

std::optional<std::string_view> http_request::field(std::string_view name) const {
    for (auto rest = fields; !rest.empty();) {
        auto line = take_until(rest, line_end);
        if (same_word(take_until(line, ":"), name)) return trimmed(line);
    }
    return std::nullopt;
}

std::string_view without_empty_lines(std::string_view text) {
    while (text.starts_with(line_end)) text.remove_prefix(line_end.size());
    return text;
}

std::size_t end_of_head(std::string_view text) {
    constexpr std::string_view empty_line = "\r\n\r\n";
    const auto end = text.find(empty_line);
    return end == std::string_view::npos ? end : end + empty_line.size();
}

std::optional<http_request> parse_request(std::string_view head) {
    auto line = take_until(head, line_end);
    http_request made{
        .method = take_until(line, " "), .path = take_until(line, " "), .fields = head};
    if (made.method.empty() || made.path.empty() || !line.starts_with("HTTP/1.") ||
        !are_fields(head))
        return std::nullopt;
    made.path = path_of(made.path);
    return made;
}

}  // namespace trn::metadata

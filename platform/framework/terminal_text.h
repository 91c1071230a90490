// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

namespace trn {

namespace terminal {

/// Length in bytes of the first code point of `text`; 0 when it is not valid UTF-8.
inline std::size_t code_point(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned first = byte(0);
    const std::size_t length = first < 0x80    ? 1
                               : first < 0xc2  ? 0
                               : first < 0xe0  ? 2
                               : first < 0xf0  ? 3
                               : first <= 0xf4 ? 4
                                               : 0;
    if (length > text.size()) return 0;
    for (std::size_t i = 1; i < length; ++i)
        if ((byte(i) & 0xc0) != 0x80) return 0;
    // Longer forms of other code points, surrogates, and what is beyond U+10FFFF.
    if ((first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) > 0x9f) ||
        (first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) > 0x8f))
        return 0;
    return length;
}

/// Whether the code point is C0, DEL, C1, or changes the direction of text or the line.
inline bool is_control(std::string_view code_point) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(code_point[i]); };
    if (code_point.size() == 1) return byte(0) < 0x20 || byte(0) == 0x7f;
    if (code_point.size() == 2)
        return (byte(0) == 0xc2 && byte(1) < 0xa0) || code_point == "\xd8\x9c";  // U+061C
    if (code_point.size() != 3 || byte(0) != 0xe2) return false;
    return (byte(1) == 0x80 &&
            ((byte(2) >= 0xa8 && byte(2) <= 0xae) || byte(2) == 0x8e || byte(2) == 0x8f)) ||
           (byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9);
}

/// Appends the first code point of `text`, or escapes for what a terminal must not receive.
/// \returns its length in bytes
inline std::size_t append_printable(std::string_view text, std::string& out) {
    const auto length = code_point(text);
    const auto first = text.substr(0, std::max<std::size_t>(length, 1));
    if (length > 0 && !is_control(first))
        out += first;
    else
        for (const char c : first) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    return first.size();
}

}  // namespace terminal

/// The text for a terminal: names from files, guests and peers must not move its cursor, change its
/// display or reverse its lines. Keeps line ends and tabs; other control characters and invalid
/// UTF-8 become escapes such as \x1b.
inline std::string terminal_text(std::string_view text) {
    std::string shown;
    shown.reserve(text.size());
    while (!text.empty()) {
        const auto first = std::find_if(text.begin(), text.end(), [](char c) {
            const auto byte = static_cast<unsigned char>(c);
            return (byte < 0x20 && c != '\n' && c != '\t') || byte >= 0x7f;
        });
        const auto count = static_cast<std::size_t>(first - text.begin());
        shown += text.substr(0, count);
        text.remove_prefix(count);
        if (!text.empty()) text.remove_prefix(terminal::append_printable(text, shown));
    }
    return shown;
}

}  // namespace trn

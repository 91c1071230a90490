// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/neuron_isa/instructions/instruction.h"
#include "models/neuron_isa/instructions/table.h"
#include "platform/framework/config/diagnostics.h"

/// Reads one line of the text form of programs; private to the assembler.
namespace trn::isa {

/// An error in one line; the rest of the line is skipped.
struct line_error {
    mistake code;
    std::size_t column, length;
    std::string message;
    std::string suggestion;
};

/// A range of columns.
struct extent {
    std::size_t column = 0, length = 1;
};

inline bool starts_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || c == '@';
}
inline bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// Reads one line from left to right.
class cursor {
public:
    explicit cursor(std::string_view line) : line_(line.substr(0, line.find_first_of("#;"))) {}

    [[noreturn]] void fail(mistake code, std::size_t start, std::string message,
                           std::string suggestion = {}) const {
        fail(code, since(start), std::move(message), std::move(suggestion));
    }

    [[noreturn]] static void fail(mistake code, const extent& place, std::string message,
                                  std::string suggestion = {}) {
        throw line_error{code, place.column, place.length, std::move(message),
                         std::move(suggestion)};
    }
    /// The range read from `start` on.
    extent since(std::size_t start) const {
        return {start, std::max<std::size_t>(at_ > start ? at_ - start : 1, 1)};
    }

    /// Adds a key that was read at `start` to `given`. Fails if it is there already.
    void once(std::vector<std::string_view>& given, std::size_t start, std::string_view key) const {
        if (std::ranges::find(given, key) != given.end())
            fail(mistake::duplicate_key, start, fmt::format("'{}' is given twice", key));
        given.push_back(key);
    }

    std::size_t position() {
        while (at_ < line_.size() &&
               (line_[at_] == ' ' || line_[at_] == '\t' || line_[at_] == '\r'))
            ++at_;
        return at_;
    }
    bool at_end() { return position() == line_.size(); }
    bool accept(std::string_view text) {
        if (!line_.substr(position()).starts_with(text)) return false;
        at_ += text.size();
        return true;
    }
    void expect(std::string_view text) {
        if (!accept(text)) fail(mistake::wrong_shape, at_, fmt::format("expected '{}'", text));
    }
    void expect_end() {
        if (!at_end()) fail(mistake::wrong_shape, at_, "nothing expected here");
    }
    bool at_word() { return position() < line_.size() && starts_word(line_[at_]); }
    bool at_number() {
        return position() < line_.size() && (is_digit(line_[at_]) || line_[at_] == '-');
    }

    std::string_view word(std::string_view expected) {
        if (!at_word()) fail(mistake::wrong_shape, at_, fmt::format("expected {}", expected));
        const std::size_t start = at_++;
        while (at_ < line_.size() && (starts_word(line_[at_]) || is_digit(line_[at_]))) ++at_;
        return line_.substr(start, at_ - start);
    }

    /// Reads a word of letters, digits and underscores.
    std::string_view name(std::string_view expected) {
        const std::size_t start = position();
        const auto is_letter = [](char c) { return starts_word(c) && c != '.' && c != '@'; };
        if (start == line_.size() || !is_letter(line_[start]))
            fail(mistake::wrong_shape, start, fmt::format("expected {}", expected));
        while (at_ < line_.size() && (is_letter(line_[at_]) || is_digit(line_[at_]))) ++at_;
        return line_.substr(start, at_ - start);
    }

    /// Reads "text"; returns it without the quotes.
    std::string_view quoted(std::string_view expected) {
        const std::size_t start = position();
        const std::size_t end = accept("\"") ? line_.find('"', at_) : std::string_view::npos;
        if (end == std::string_view::npos)
            fail(mistake::wrong_shape, start, fmt::format("expected {} in quotes", expected));
        const std::string_view text = line_.substr(at_, end - at_);
        at_ = end + 1;
        return text;
    }

    /// Reads a number from `low` to `high`, decimal or 0x.
    std::int64_t number(std::int64_t low, std::int64_t high) {
        const std::size_t start = position();
        const bool negative = accept("-");
        const std::uint64_t magnitude = digits(start);
        const bool fits = negative
                              ? magnitude <= static_cast<std::uint64_t>(-(low + 1)) + 1 && low < 0
                              : magnitude <= static_cast<std::uint64_t>(high) &&
                                    (low < 0 || magnitude >= static_cast<std::uint64_t>(low));
        if (!fits) fail(mistake::out_of_range, start, fmt::format("expected {} to {}", low, high));
        return static_cast<std::int64_t>(negative ? 0 - magnitude : magnitude);
    }
    template <typename T>
    T number() {
        return static_cast<T>(number(std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
    }
    /// Reads 32 bits as a signed or unsigned number.
    std::uint32_t bits32() {
        return static_cast<std::uint32_t>(number(std::numeric_limits<std::int32_t>::min(),
                                                 std::numeric_limits<std::uint32_t>::max()));
    }
    std::uint64_t bits64() { return digits(position()); }

    /// Reads FP32 bits: a decimal number, or the bits as 0x.
    std::uint32_t fp32_bits() {
        const std::size_t start = position();
        if (line_.substr(start).starts_with("0x")) return bits32();
        float value = 0;
        const auto [end, failed] =
            std::from_chars(line_.data() + start, line_.data() + line_.size(), value);
        at_ = static_cast<std::size_t>(end - line_.data());
        if (failed != std::errc{})
            fail(mistake::not_a_number, start, "expected an FP32 number, or its bits as 0x...");
        return std::bit_cast<std::uint32_t>(value);
    }

    bool at_register() {
        return position() + 1 < line_.size() && line_[at_] == 'R' && is_digit(line_[at_ + 1]);
    }
    std::uint8_t reg() {
        const std::size_t start = position();
        if (!at_register()) fail(mistake::wrong_shape, start, "expected a register, R0 to R63");
        ++at_;
        return static_cast<std::uint8_t>(number(0, register_count - 1));
    }

    numerics::element element_type() {
        const std::size_t start = position();
        const std::string_view given = word("an element type");
        std::vector<std::string_view> known;
        for (unsigned code = 0; code < numerics::all_element_kinds; ++code) {
            known.push_back(name_of(static_cast<numerics::element>(code)));
            if (known.back() == given) return static_cast<numerics::element>(code);
        }
        unknown(start, given, "an element type", known);
    }
    /// Reads one of `words`; returns its index.
    template <std::size_t N>
    unsigned choice(const std::string_view (&words)[N], std::string_view expected) {
        const std::size_t start = position();
        const std::string_view given = word(expected);
        const auto found = std::ranges::find(words, given);
        if (found == std::end(words)) unknown(start, given, expected, words);
        return static_cast<unsigned>(found - std::begin(words));
    }
    [[noreturn]] void unknown(std::size_t start, std::string_view given, std::string_view expected,
                              std::span<const std::string_view> known) const {
        fail(mistake::not_a_choice, start, fmt::format("'{}' is not {}", given, expected),
             suggest(given, known));
    }

private:
    std::uint64_t digits(std::size_t start) {
        int base = 10;
        if (accept("0x")) base = 16;
        std::uint64_t value = 0;
        const auto [end, failed] =
            std::from_chars(line_.data() + at_, line_.data() + line_.size(), value, base);
        const bool none = end == line_.data() + at_;
        at_ = static_cast<std::size_t>(end - line_.data());
        if (none || !(at_ == start || failed != std::errc::invalid_argument))
            fail(mistake::not_a_number, start, "expected a whole number");
        if (failed == std::errc::result_out_of_range)
            fail(mistake::out_of_range, start, "the number has more than 64 bits");
        return value;
    }

    std::string_view line_;
    std::size_t at_ = 0;
};

}  // namespace trn::isa

// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/config/units.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace trn {

namespace config {
namespace {

__extension__ using wide = unsigned __int128;

struct unit {
    std::string_view name;
    std::uint64_t multiple;  ///< in units of the smallest unit
    std::uint64_t divisor = 1;
};

constexpr std::array size_units{unit{"B", 1},
                                unit{"KiB", 1ull << 10},
                                unit{"MiB", 1ull << 20},
                                unit{"GiB", 1ull << 30},
                                unit{"TiB", 1ull << 40},
                                unit{"PiB", 1ull << 50},
                                unit{"EiB", 1ull << 60},
                                unit{"kB", 1'000},
                                unit{"MB", 1'000'000},
                                unit{"GB", 1'000'000'000},
                                unit{"TB", 1'000'000'000'000}};
constexpr std::array time_units{unit{"ps", 1}, unit{"ns", 1'000}, unit{"us", 1'000'000},
                                unit{"ms", 1'000'000'000}, unit{"s", 1'000'000'000'000}};
constexpr std::array data_rate_units{
    unit{"B/s", 1},
    unit{"kB/s", 1'000},
    unit{"MB/s", 1'000'000},
    unit{"GB/s", 1'000'000'000},
    unit{"TB/s", 1'000'000'000'000},
    unit{"KiB/s", 1ull << 10},
    unit{"MiB/s", 1ull << 20},
    unit{"GiB/s", 1ull << 30},
    unit{"Mbit/s", 1'000'000, 8},
    unit{"Gbit/s", 1'000'000'000, 8},
};
constexpr std::array lane_rate_units{unit{"T/s", 1}, unit{"MT/s", 1'000'000},
                                     unit{"GT/s", 1'000'000'000}};
constexpr std::array frequency_units{unit{"Hz", 1}, unit{"kHz", 1'000}, unit{"MHz", 1'000'000},
                                     unit{"GHz", 1'000'000'000}};

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// Removes leading digits from `text`, in which single `_` may stand between digits; calls
/// take(digit's value) for each. Returns their number; 0 also if a `_` has no digit beside it.
template <class Take>
std::size_t take_digits(std::string_view& text, unsigned base, Take take) {
    const auto value_of = [base](char c) {
        const unsigned value = is_digit(c)            ? static_cast<unsigned>(c - '0')
                               : c >= 'a' && c <= 'f' ? static_cast<unsigned>(c - 'a') + 10
                               : c >= 'A' && c <= 'F' ? static_cast<unsigned>(c - 'A') + 10
                                                      : base;
        return std::min(value, base);
    };
    std::size_t count = 0, i = 0;
    bool after_digit = false;
    for (; i < text.size(); ++i) {
        if (text[i] == '_') {
            if (!std::exchange(after_digit, false)) return 0;
            continue;
        }
        const unsigned digit = value_of(text[i]);
        if (digit == base) break;
        after_digit = true;
        ++count;
        take(digit);
    }
    text.remove_prefix(i);
    return after_digit ? count : 0;
}

/// A decimal number: digits / scale.
struct decimal {
    static constexpr unsigned max_digits = 18;  ///< significant ones

    std::uint64_t digits = 0;
    std::uint64_t scale = 1;
    bool too_long = false;
};

/// Removes a leading decimal number from `text`; false when there is none.
bool take_decimal(std::string_view& text, decimal& out) {
    unsigned significant = 0;
    const auto take = [&](bool of_fraction) {
        return [&, of_fraction](unsigned digit) {
            if (significant != 0 || digit != 0 || of_fraction) ++significant;
            out.too_long = significant > decimal::max_digits;
            if (out.too_long) return;
            out.digits = out.digits * 10 + digit;
            if (of_fraction) out.scale *= 10;
        };
    };
    if (take_digits(text, 10, take(false)) == 0) return false;
    if (!text.starts_with('.')) return true;
    text.remove_prefix(1);
    return take_digits(text, 10, take(true)) != 0;
}

bool same_letters(std::string_view a, std::string_view b) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; };
    return std::ranges::equal(a, b, {}, lower, lower);
}

/// Whether `wrong` is a usual spelling of the unit: KB, K and kib of KiB.
bool is_written_as(std::string_view unit, std::string_view wrong) {
    if (same_letters(unit, wrong)) return true;
    const bool binary = unit.size() == 3 && unit.substr(1) == "iB";
    return binary && (same_letters(wrong, std::string{unit[0]}) ||
                      same_letters(wrong, std::string{unit[0], 'B'}) ||
                      same_letters(wrong, std::string{unit[0], 'i'}));
}

/// The text with units that it may lack: for a time all but ps, which few times have.
std::string with_units(std::string_view text, std::span<const unit> units) {
    const auto likely =
        units.front().name == time_units.front().name ? units.subspan(1) : units.first(2);
    std::string all;
    for (const auto& u : likely) {
        if (!all.empty()) all += &u == &likely.back() ? " or " : ", ";
        all += fmt::format("'{} {}'", text, u.name);
    }
    return all;
}

refusal unit_refusal(mistake code, std::string_view noun, std::string_view text,
                     std::string_view wrong, std::span<const unit> units) {
    if (code == mistake::unit_missing)
        return {code, fmt::format("'{}' needs a unit", text),
                fmt::format("write a {} like {}", noun, with_units(text, units))};
    std::vector<std::string_view> names;
    for (const auto& u : units) names.push_back(u.name);
    const auto number = text.substr(0, text.find_last_of("0123456789") + 1);
    // 4KB, 4K, 4kb and 4 kib for '4 KiB'; 5 MS for '5 ms'
    for (const auto& u : units)
        if (is_written_as(u.name, wrong))
            return {code, fmt::format("'{}' is not a unit of {}", wrong, noun),
                    fmt::format("did you mean '{} {}'?  (known: {})", number, u.name,
                                fmt::join(names, ", "))};
    return {code, fmt::format("'{}' is not a unit of {}", wrong, noun), suggest(wrong, names)};
}

parsed<std::uint64_t> quantity(std::string_view text, std::string_view noun,
                               std::span<const unit> units) {
    std::string_view rest = text;
    decimal number;
    if (!take_decimal(rest, number))
        return refusal{mistake::not_a_number, fmt::format("'{}' is not a {}", text, noun),
                       fmt::format("write it like '4 {}'", units[1].name)};
    if (number.too_long)
        return refusal{mistake::out_of_range,
                       fmt::format("'{}' has more than {} digits", text, decimal::max_digits), ""};
    while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
    if (rest.empty()) return unit_refusal(mistake::unit_missing, noun, text, rest, units);
    for (const auto& u : units) {
        if (u.name != rest) continue;
        const wide scaled = wide{number.digits} * u.multiple;
        const wide divisor = wide{number.scale} * u.divisor;
        if (scaled % divisor != 0)
            return refusal{mistake::not_whole,
                           fmt::format("'{}' is not a whole number of {}", text, units[0].name),
                           ""};
        if (scaled / divisor > std::numeric_limits<std::int64_t>::max())
            return refusal{mistake::out_of_range, fmt::format("'{}' is too large", text), ""};
        return static_cast<std::uint64_t>(scaled / divisor);
    }
    return unit_refusal(mistake::unknown_unit, noun, text, rest, units);
}

template <class T>
parsed<T> typed(const parsed<std::uint64_t>& value) {
    if (const auto* why = std::get_if<refusal>(&value)) return *why;
    return T{std::get<std::uint64_t>(value)};
}

refusal no_number(std::string_view text) {
    return {mistake::not_a_number, fmt::format("'{}' is not a number", text), ""};
}

}  // namespace

parsed<bytes> parse_bytes(std::string_view text) {
    return typed<bytes>(quantity(text, "size", size_units));
}
parsed<picoseconds> parse_time(std::string_view text) {
    return typed<picoseconds>(quantity(text, "time", time_units));
}
parsed<data_rate> parse_data_rate(std::string_view text) {
    return typed<data_rate>(quantity(text, "data rate", data_rate_units));
}
parsed<lane_rate> parse_lane_rate(std::string_view text) {
    return typed<lane_rate>(quantity(text, "lane rate", lane_rate_units));
}
parsed<hertz> parse_frequency(std::string_view text) {
    return typed<hertz>(quantity(text, "frequency", frequency_units));
}

parsed<std::uint64_t> parse_unsigned(std::string_view text) {
    std::string_view rest = text;
    unsigned base = 10;
    if (rest.starts_with("0x") || rest.starts_with("0X")) base = 16;
    if (rest.starts_with("0b") || rest.starts_with("0B")) base = 2;
    if (base != 10) rest.remove_prefix(2);
    std::uint64_t value = 0;
    bool overflow = false;
    const auto count = take_digits(rest, base, [&](unsigned digit) {
        overflow = overflow || __builtin_mul_overflow(value, base, &value) ||
                   __builtin_add_overflow(value, digit, &value);
    });
    if (count == 0 || !rest.empty()) return no_number(text);
    if (overflow)
        return refusal{mistake::out_of_range, fmt::format("'{}' needs more than 64 bits", text),
                       ""};
    return value;
}

parsed<std::int64_t> parse_signed(std::string_view text) {
    const bool negative = text.starts_with('-');
    const auto magnitude = parse_unsigned(negative ? text.substr(1) : text);
    if (const auto* why = std::get_if<refusal>(&magnitude)) return *why;
    const auto value = std::get<std::uint64_t>(magnitude);
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
        return refusal{mistake::out_of_range, fmt::format("'{}' needs more than 64 bits", text),
                       ""};
    return negative ? -static_cast<std::int64_t>(value) : static_cast<std::int64_t>(value);
}

parsed<double> parse_real(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value))
        return no_number(text);
    return value;
}

parsed<std::uint16_t> parse_port(std::string_view text) {
    std::uint16_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size())
        return refusal{mistake::out_of_range,
                       fmt::format("'{}' is not a TCP port (0 to 65535)", text), ""};
    return value;
}

}  // namespace config

namespace {

/// Formats `value` in the largest unit that divides it.
std::string spell(std::uint64_t value, std::span<const config::unit> units, std::size_t count) {
    const config::unit* best = &units[0];
    for (const auto& u : units.first(count))
        if (u.divisor == 1 && value != 0 && value % u.multiple == 0) best = &u;
    return fmt::format("{} {}", value / best->multiple, best->name);
}

}  // namespace

std::string to_string(bytes value) {
    return spell(value.value, config::size_units, 5);
}
std::string to_string(picoseconds value) {
    return spell(value.value, config::time_units, 5);
}
std::string to_string(data_rate value) {
    return spell(value.bytes_per_second, config::data_rate_units, 5);
}
std::string to_string(lane_rate value) {
    return spell(value.transfers_per_second, config::lane_rate_units, 3);
}
std::string to_string(hertz value) {
    return spell(value.value, config::frequency_units, 4);
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <variant>

namespace trn {

/// Unit of a number. Times are in picoseconds; bool, strings and enumerations need none.
enum class unit : std::uint8_t {
    none,
    address,  ///< a plain number, shown in hexadecimal
    bytes,
    bytes_per_second,
    transfers_per_second,
    hertz,
    time
};

/// The valid values of a number: a range, a part of it, or a short list.
struct number_limits {
    std::uint64_t min = 0, max = 0;
    std::uint64_t step = 1;                    ///< valid values are multiples of this
    bool is_zero_valid = false;                ///< besides the range: "none", "the default"
    bool is_power_of_two = false;              ///< only powers of two are valid
    std::array<std::uint64_t, 6> values = {};  ///< the valid values, if there are `listed`
    std::size_t listed = 0;                    ///< 0: the range is valid

    consteval number_limits or_zero() const {
        number_limits made = *this;
        made.is_zero_valid = true;
        return made;
    }
    consteval number_limits powers_of_two() const {
        number_limits made = *this;
        made.is_power_of_two = true;
        return made;
    }
    consteval number_limits multiples_of(std::uint64_t each) const {
        number_limits made = *this;
        made.step = each;
        return made;
    }

    bool contain(std::uint64_t value) const;
    /// Whether a T can have every valid value.
    template <std::unsigned_integral T>
    bool fit() const {
        return std::ranges::max(values) <= std::numeric_limits<T>::max() &&
               max <= std::numeric_limits<T>::max();
    }
};

/// The valid values of a real number.
struct real_limits {
    double min = 0, max = 0;

    bool contain(double value) const { return value >= min && value <= max; }
};

/// The valid values of a time, in picoseconds.
struct time_limits {
    number_limits picoseconds;

    consteval time_limits or_zero() const { return {picoseconds.or_zero()}; }
};

/// Limits of a parameter; monostate if it is not a number.
using any_limits = std::variant<std::monostate, number_limits, real_limits>;

/// "4 KiB to 128 MiB, a power of two", "512 or 4096", "0, or 1 MB/s to 1000 TB/s"; "" for a
/// parameter that is not a number.
std::string to_string(const any_limits& bounds, unit dimension);

/// A number with its unit, in board syntax.
std::string show_number(std::uint64_t value, unit dimension);

/// Words for the limits in a kind's table.
namespace kind_limits {

inline constexpr std::uint64_t KiB = 1u << 10, MiB = KiB << 10, GiB = MiB << 10, TiB = GiB << 10,
                               PiB = TiB << 10;
inline constexpr std::uint64_t kHz = 1'000, GHz = 1'000'000'000;
inline constexpr std::uint64_t MB_per_s = 1'000'000, TB_per_s = MB_per_s * 1'000'000;
inline constexpr std::uint64_t ps = 1, ns = 1'000 * ps, us = 1'000 * ns, ms = 1'000 * us,
                               s = 1'000 * ms;

template <std::integral A, std::integral B>
consteval number_limits within(A min, B max) {
    const number_limits made{static_cast<std::uint64_t>(min), static_cast<std::uint64_t>(max)};
    if (made.min > made.max) throw "the least value is larger than the largest";
    return made;
}
consteval real_limits within(double min, double max) {
    if (!(min <= max)) throw "the least value is larger than the largest";
    return {min, max};
}
template <std::integral... Values>
consteval number_limits one_of(Values... values) {
    return {.values = {static_cast<std::uint64_t>(values)...}, .listed = sizeof...(values)};
}
/// Any number of `width` bits: identities and addresses.
consteval number_limits bits(unsigned width) {
    return {0, std::numeric_limits<std::uint64_t>::max() >> (64 - width)};
}
consteval time_limits time_within(std::uint64_t min, std::uint64_t max) {
    return {within(min, max)};
}

// Invented, because no source has limits; doc/boards.md lists them.
inline constexpr time_limits any_time = time_within(0, 1000 * s);
inline constexpr time_limits positive_time = time_within(1 * ps, 1000 * s);
inline constexpr time_limits period_or_none = time_within(1 * us, 1000 * s).or_zero();
inline constexpr time_limits hart_clock = time_within(1 * ps, 1 * us);
inline constexpr number_limits any_rate = within(1 * MB_per_s, 1000 * TB_per_s);
inline constexpr number_limits any_frequency = within(1 * kHz, 1000 * GHz);
inline constexpr number_limits any_number = bits(64);

}  // namespace kind_limits

}  // namespace trn

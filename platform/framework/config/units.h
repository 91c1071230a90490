// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "platform/framework/config/diagnostics.h"

namespace trn {

/// A size. "36 GiB", "64 KiB", "512 B".
struct bytes {
    std::uint64_t value = 0;
    constexpr auto operator<=>(const bytes&) const = default;
};

/// A duration. "110 ns", "1.4 us". One picosecond is SystemC's default resolution.
struct picoseconds {
    std::uint64_t value = 0;
    constexpr auto operator<=>(const picoseconds&) const = default;
};

/// A data rate in bytes per second. "38.4 GB/s", "100 Gbit/s".
struct data_rate {
    std::uint64_t bytes_per_second = 0;
    constexpr auto operator<=>(const data_rate&) const = default;
};

/// A lane's signalling rate in transfers per second. "64 GT/s".
struct lane_rate {
    std::uint64_t transfers_per_second = 0;
    constexpr auto operator<=>(const lane_rate&) const = default;
};

/// A frequency. "1.4 GHz".
struct hertz {
    std::uint64_t value = 0;
    constexpr auto operator<=>(const hertz&) const = default;
};

namespace config {

/// The reason why a text is not a value of the requested type.
struct refusal {
    mistake code{};
    std::string message;
    std::string suggestion;
};

template <class T>
using parsed = std::variant<T, refusal>;

parsed<bytes> parse_bytes(std::string_view text);
parsed<picoseconds> parse_time(std::string_view text);
parsed<data_rate> parse_data_rate(std::string_view text);
parsed<lane_rate> parse_lane_rate(std::string_view text);
parsed<hertz> parse_frequency(std::string_view text);

/// An unsigned number: 12, 0x1f, 0b101; single `_` may stand between digits.
parsed<std::uint64_t> parse_unsigned(std::string_view text);
parsed<std::int64_t> parse_signed(std::string_view text);
parsed<double> parse_real(std::string_view text);
/// A TCP port, decimal; 0 (the listener chooses) is allowed.
parsed<std::uint16_t> parse_port(std::string_view text);

}  // namespace config

/// The shortest exact form in board syntax: "36 GiB", "1400 ns".
std::string to_string(bytes value);
std::string to_string(picoseconds value);
std::string to_string(data_rate value);
std::string to_string(lane_rate value);
std::string to_string(hertz value);

}  // namespace trn

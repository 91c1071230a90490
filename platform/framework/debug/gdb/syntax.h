// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

/// The text of packets: numbers, separators, error replies.
namespace trn::gdb {

constexpr std::string_view bad_request = "E16";  // EINVAL
constexpr std::string_view bad_address = "E0e";  // EFAULT

std::optional<std::uint64_t> number(std::string_view hex);

/// Splits `text` at the first `separator`; the second part is empty when there is none.
std::pair<std::string_view, std::string_view> cut(std::string_view text, char separator);

/// "ADDRESS,LENGTH".
struct range {
    std::uint64_t address, length;
};
std::optional<range> parse_range(std::string_view text);

}  // namespace trn::gdb

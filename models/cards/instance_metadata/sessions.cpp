// SPDX-License-Identifier: Apache-2.0
#include "models/cards/instance_metadata/sessions.h"

#include <fmt/format.h>

#include <charconv>
#include <system_error>

#include "platform/framework/kernel/random.h"

namespace trn::metadata {

namespace {

constexpr std::size_t digits = 16;

/// Parses a number; 0 if there is none, since a session never ends at 0.
std::uint64_t number_in(std::string_view text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    return error == std::errc() && end == text.data() + text.size() ? value : 0;
}

std::uint64_t now_in_milliseconds() {
    return static_cast<std::uint64_t>(sc_core::sc_time_stamp() /
                                      sc_core::sc_time(1, sc_core::SC_MS));
}

}  // namespace

std::string sessions::text_of(std::uint64_t end, std::uint64_t number) const {
    const auto check = mix_bits(seed_ ^ mix_bits(end ^ mix_bits(number)));
    return fmt::format("{:0{}x}{:0{}x}{:0{}x}", end, digits, number, digits, check, digits);
}

std::string sessions::open(std::uint32_t seconds) {
    return text_of(now_in_milliseconds() + std::uint64_t{seconds} * 1000, ++opened_);
}

bool sessions::accepts(std::string_view token) const {
    if (token.size() != 3 * digits) return false;
    const auto end = number_in(token.substr(0, digits));
    return end > now_in_milliseconds() &&
           token == text_of(end, number_in(token.substr(digits, digits)));
}

}  // namespace trn::metadata

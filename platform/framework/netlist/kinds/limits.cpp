// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/netlist/kinds/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <span>

#include "platform/framework/config/units.h"

namespace trn {

namespace {

std::string text_of(const number_limits& bounds, unit dimension) {
    const auto show = [&](std::uint64_t value) { return show_number(value, dimension); };
    if (bounds.listed != 0) {
        std::string text = show(bounds.values[0]);
        for (std::size_t i = 1; i < bounds.listed; ++i)
            text += (i + 1 < bounds.listed ? ", " : " or ") + show(bounds.values[i]);
        return text;
    }
    std::string text = fmt::format("{}{} to {}", bounds.is_zero_valid ? "0, or " : "",
                                   show(bounds.min), show(bounds.max));
    if (bounds.is_power_of_two) text += ", a power of two";
    if (bounds.step != 1) text += ", a multiple of " + show(bounds.step);
    return text;
}

}  // namespace

bool number_limits::contain(std::uint64_t value) const {
    if (value == 0 && is_zero_valid) return true;
    if (listed != 0) return std::ranges::count(std::span(values).first(listed), value) != 0;
    return value >= min && value <= max && value % step == 0 &&
           (!is_power_of_two || std::has_single_bit(value));
}

std::string to_string(const any_limits& bounds, unit dimension) {
    if (const auto* number = std::get_if<number_limits>(&bounds))
        return text_of(*number, dimension);
    if (const auto* real = std::get_if<real_limits>(&bounds))
        return fmt::format("{} to {}", real->min, real->max);
    return {};
}

std::string show_number(std::uint64_t value, unit dimension) {
    switch (dimension) {
    case unit::bytes:
        return to_string(bytes{value});
    case unit::bytes_per_second:
        return to_string(data_rate{value});
    case unit::transfers_per_second:
        return to_string(lane_rate{value});
    case unit::hertz:
        return to_string(hertz{value});
    case unit::time:
        return to_string(picoseconds{value});
    case unit::address:
        return fmt::format("0x{:x}", value);
    case unit::none:
        break;
    }
    return fmt::format("{}", value);
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/results/figure.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace trn::scenario {

namespace {

struct scaled_unit {
    std::string_view base, name;  ///< the figure's unit, and one for readers
    double factor;
};
/// From the largest on for each unit.
constexpr std::array scaled_units{
    scaled_unit{"GB/s", "GB/s", 1},   scaled_unit{"GB/s", "MB/s", 1e3},
    scaled_unit{"GB/s", "kB/s", 1e6}, scaled_unit{"GB/s", "B/s", 1e9},
    scaled_unit{"us", "s", 1e-6},     scaled_unit{"us", "ms", 1e-3},
    scaled_unit{"us", "us", 1},       scaled_unit{"us", "ns", 1e3}};

/// The unit in which a number has digits before its point.
scaled_unit unit_for(std::string_view unit, double number) {
    for (const auto& scaled : scaled_units)
        if (scaled.base == unit && number * scaled.factor >= 1) return scaled;
    return {unit, unit, 1};
}

std::string in_unit(double number, std::string_view unit) {
    const auto shown = unit_for(unit, number);
    return fmt::format("{:.6g}{}{}", number * shown.factor, shown.name.empty() ? "" : " ",
                       shown.name);
}

}  // namespace

std::string figure::text() const {
    std::string bounds;
    if (min && max)
        bounds = fmt::format(" ({} to {})", in_unit(*min, unit), in_unit(*max, unit));
    else if (min)
        bounds = fmt::format(" (at least {})", in_unit(*min, unit));
    else if (max)
        bounds = fmt::format(" (at most {})", in_unit(*max, unit));
    return in_unit(value, unit) + bounds;
}

}  // namespace trn::scenario

// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/bridges/foreign_ports.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>

namespace trn {

std::string_view to_string(coding_style style) {
    constexpr std::array<std::string_view, 3> names{"restricted protocol", "loosely timed",
                                                    "approximately timed"};
    return names.at(static_cast<std::size_t>(style));
}

std::string foreign_ports::describe_socket(unsigned width, coding_style style) {
    return fmt::format("{} bits, {}", width, to_string(style));
}

}  // namespace trn

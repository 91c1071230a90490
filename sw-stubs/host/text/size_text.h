// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <string>

namespace trn {

/// "36 GiB", "4097 B": in the largest unit of which `bytes` is a whole multiple.
inline std::string size_text(std::uint64_t bytes) {
    constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB"};
    std::size_t unit = 0;
    for (; bytes != 0 && bytes % 1024 == 0 && unit + 1 < units.size(); ++unit) bytes /= 1024;
    return fmt::format("{} {}", bytes, units[unit]);
}

}  // namespace trn

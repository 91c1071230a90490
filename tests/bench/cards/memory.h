// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/bench/rows.h"

namespace trn::test {

/// GB/s of memcpy of pieces of `piece` bytes; rotates through a source of `from_bytes` and a
/// destination of `to_bytes`.
inline double memcpy_rate(std::uint64_t piece, std::uint64_t from_bytes, std::uint64_t to_bytes) {
    constexpr std::uint64_t moved = 64 << 20;
    const std::vector<std::uint8_t> from(from_bytes, 1);
    std::vector<std::uint8_t> to(to_bytes, 2);
    const double ns = nanoseconds_each(moved, [&] {
        for (std::uint64_t at = 0; at < moved; at += piece)
            std::memcpy(&to[at % to_bytes], &from[at % from_bytes], piece);
    });
    return 1 / ns;
}

}  // namespace trn::test

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace trn::pcie {

/// Payload rate of a link in one direction, in bytes per second: the raw rate minus encoding and
/// the headers of packets of 512 bytes. `generation`: 1..6.
inline std::uint64_t payload_bytes_per_second(unsigned generation, unsigned lanes) {
    constexpr double transfers[] = {2.5e9, 5e9, 8e9, 16e9, 32e9, 64e9};
    const double encoding = generation <= 2   ? 8.0 / 10
                            : generation <= 5 ? 128.0 / 130
                                              : 236.0 / 256;  // FLIT mode
    constexpr double payload = 512, header = 24;              // sequence number, TLP header, LCRC
    const double rate = transfers[std::clamp(generation, 1u, 6u) - 1] * lanes / 8;
    return static_cast<std::uint64_t>(rate * encoding * payload / (payload + header));
}

}  // namespace trn::pcie

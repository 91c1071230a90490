// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/pcie_link/signalling.h"

#include <algorithm>
#include <array>

namespace trn {

namespace {

constexpr std::uint64_t giga = 1'000'000'000;

// PCIe 6.0 4.2: 8b/10b, 128b/130b, then flits of 256 bytes with 236 bytes of packets. Before flit
// mode, a packet has framing, sequence number, a 16-byte header and LCRC; in flit mode, only the
// header.
constexpr std::array<signalling, 6> pcie_speeds{{{2'500'000'000, 24, 10, 8, 0},
                                                 {5 * giga, 24, 10, 8, 0},
                                                 {8 * giga, 24, 130, 128, 0},
                                                 {16 * giga, 24, 130, 128, 0},
                                                 {32 * giga, 24, 130, 128, 0},
                                                 {64 * giga, 16, 256, 236, 256}}};
// UALink 200G 1.0: 64-byte transfers in link flits of 640 bytes. The overhead of a flit (12 bytes)
// and the size of a request (16 bytes) are our estimates.
constexpr std::array<signalling, 1> ualink_speeds{{{200 * giga, 16, 640, 628, 640}}};

}  // namespace

const signalling& signalling::of(link_protocol protocol, unsigned generation) {
    const unsigned row = std::clamp(generation, 1u, generations(protocol)) - 1;
    return protocol == link_protocol::pcie ? pcie_speeds[row] : ualink_speeds[row];
}

unsigned signalling::generations(link_protocol protocol) {
    return static_cast<unsigned>(protocol == link_protocol::pcie ? pcie_speeds.size()
                                                                 : ualink_speeds.size());
}

}  // namespace trn

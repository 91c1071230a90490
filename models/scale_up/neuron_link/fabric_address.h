// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace trn::fabric {

// A fabric address: bit 63 set, 62:61 window of the sender, 60 rack, 59:55 server in the rack,
// 54:51 chip in the server, 47:0 AXI address on that chip. On the wire, the window is no longer
// needed, and bits 62:61 and 50:48 count the chips that have forwarded the access. Invented; see
// decision 9.
inline constexpr std::uint64_t flag = std::uint64_t{1} << 63;
inline constexpr unsigned id_shift = 51;
inline constexpr unsigned racks = 2;
inline constexpr unsigned ids = 1024;  ///< 2 racks of 32 servers of 16 chips
inline constexpr std::uint64_t axi_mask = (std::uint64_t{1} << 48) - 1;
inline constexpr unsigned max_hops = 31;

/// The chip id in an address: 512 rack + 16 server + chip.
constexpr unsigned id_of(std::uint64_t address) {
    return static_cast<unsigned>(address >> id_shift) & (ids - 1);
}
constexpr unsigned hops_of(std::uint64_t address) {
    return static_cast<unsigned>((address >> 61 & 3) << 3 | (address >> 48 & 7));
}
constexpr std::uint64_t address_of(unsigned id, std::uint64_t axi, unsigned hops = 0) {
    return flag | std::uint64_t{hops >> 3} << 61 | std::uint64_t{id} << id_shift |
           std::uint64_t{hops & 7} << 48 | axi;
}
constexpr unsigned rack_of(unsigned id) {
    return id >> 9;
}
constexpr unsigned server_of(unsigned id) {
    return id >> 4 & 0x1f;
}
constexpr unsigned chip_of(unsigned id) {
    return id & 0xf;
}

}  // namespace trn::fabric

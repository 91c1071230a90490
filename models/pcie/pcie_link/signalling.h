// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace trn {

enum class link_protocol : std::uint8_t { pcie, ualink };

/// Encoding and overhead of a protocol at one speed.
struct signalling {
    std::uint64_t lane_bits_per_second;  ///< raw bit rate per lane
    unsigned packet_overhead;            ///< bytes of header, framing and check code per packet
    unsigned wire, content;  ///< `wire` bytes on the wire carry `content` bytes of packets
    unsigned flit;           ///< bytes per CRC; 0: each packet has its own

    static const signalling& of(link_protocol protocol, unsigned generation);
    static unsigned generations(link_protocol protocol);  ///< generations are 1 to this number
};

}  // namespace trn

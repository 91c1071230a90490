// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <systemc>

#include "models/network/ethernet_switch/ethernet_switch.h"
#include "tests/unit/cards/ena/card/network_driver.h"

namespace trn::test {

/// A packet between cards 1 and 2, whose address ends with that number; 0xff: broadcast.
inline network_driver::bytes_type packet(std::uint8_t to, std::uint8_t from, std::size_t size) {
    network_driver::bytes_type all(size);
    for (std::size_t i = 0; i < size; ++i) all[i] = static_cast<std::uint8_t>(i * 31 + i / 256);
    std::fill(all.begin(), all.begin() + 12, to == 0xff ? 0xff : 0);
    std::fill(all.begin() + 6, all.begin() + 12, 0);
    all[0] = to == 0xff ? 0xff : 2;
    all[5] = to;
    all[6] = 2;
    all[11] = from;
    return all;
}

/// Two cards with their drivers, connected by a switch.
struct ena_pair : testing::Test {
    ena_pair()
        : a("a", {.mac = 0x0200'0000'0001}), b("b", {.mac = 0x0200'0000'0002}), net("net", {}) {
        net.port[0].join(a.card.net);
        net.port[1].join(b.card.net);
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
        a.start();
        b.start();
    }
    static void run(double microseconds = 200) { network_driver::run(microseconds); }
    /// A receive queue with `count` buffers of `size` bytes; request ids start at 100.
    network_driver::queue receive_queue(network_driver& on, unsigned count, std::uint16_t size,
                                        unsigned depth = 64) {
        auto made = on.create(false, depth, 1);
        buffers = on.allocate(std::uint64_t{count} * size);
        for (unsigned i = 0; i < count; ++i)
            on.offer(made, static_cast<std::uint16_t>(100 + i), buffers + std::uint64_t{i} * size,
                     size);
        on.ring(made);
        return made;
    }
    network_driver a, b;
    ethernet_switch net;
    std::uint64_t buffers = 0;  // of the last receive_queue()
};

}  // namespace trn::test

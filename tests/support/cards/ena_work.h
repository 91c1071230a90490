// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

#include "tests/support/cards/network_host.h"
#include "tests/support/fuzz.h"

/// Workloads on ENA cards: packets that are verified, and the requests of a hostile host.
namespace trn::test::ena_work {

constexpr std::uint16_t buffer_bytes = 2048;
constexpr unsigned depth = 16;

/// A host with one queue per direction; `number` is the last byte of its MAC address.
struct talker {
    talker(network_host& local, std::uint8_t number) : host(local), own(number) {
        out = local.create(true, depth, 1);
        in = local.create(false, depth, 1);
        buffers = local.allocate(std::uint64_t{depth} * buffer_bytes);
        packets = local.allocate(16384);
    }
    /// Drops received packets and posts free buffers; each completion frees a descriptor.
    void refresh() {
        while (host.take(in)) {
        }
        while (host.take(out)) {
        }
        while (static_cast<std::uint16_t>(in.posted - in.taken) < depth) {
            const auto request = static_cast<std::uint16_t>(in.posted % depth);
            host.offer(in, request, buffers + std::uint64_t{request} * buffer_bytes, buffer_bytes);
        }
        host.ring(in);
    }
    network_host& host;
    std::uint8_t own;
    network_host::queue out, in;
    std::uint64_t buffers = 0, packets = 0;
};

/// Sends a packet and compares the copy received from this sender. Returns false if none arrived.
inline bool send_and_compare(talker& sender, talker& receiver, fuzz_random& random) {
    sender.refresh();
    receiver.refresh();
    const std::uint32_t size = 14 + static_cast<std::uint32_t>(random.below(5000));
    auto* const data = sender.host.bytes(sender.packets);
    for (std::uint32_t i = 0; i < size; ++i) data[i] = static_cast<std::uint8_t>(random.next());
    const std::uint8_t header[] = {2, 0, 0, 0, 0, receiver.own, 2, 0, 0, 0, 0, sender.own};
    std::copy(std::begin(header), std::end(header), data);
    const auto first = static_cast<std::uint16_t>(1 + random.below(size - 1));
    sender.host.describe(sender.out, 5,
                         {{sender.packets, first},
                          {sender.packets + first, static_cast<std::uint16_t>(size - first)}});
    sender.host.ring(sender.out);
    sender.host.advance(1000);
    const auto gone = sender.host.take(sender.out);
    require(gone && gone->request == 5, "a packet was not completed");
    std::vector<std::uint8_t> packet;
    bool arrived = false;
    while (const auto part = receiver.host.take(receiver.in)) {
        require(part->first == packet.empty(), "a packet begins in the wrong place");
        const auto* const got =
            receiver.host.bytes(receiver.buffers + std::uint64_t{part->request} * buffer_bytes);
        packet.insert(packet.end(), got, got + part->length);
        if (!part->last) continue;
        if (packet.size() >= sizeof header &&
            std::equal(header, std::end(header), packet.begin())) {
            require(packet.size() == size && std::equal(packet.begin(), packet.end(), data),
                    "a packet is wrong");
            require(!arrived, "a packet arrived twice");
            arrived = true;
        }
        packet.clear();
    }
    require(packet.empty(), "a packet ends in the wrong place");
    return arrived;
}

/// A value that is often valid in commands and descriptors.
inline std::uint64_t some_value(fuzz_random& random) {
    switch (random.below(5)) {
    case 0:
        return random.next();
    case 1:
        return std::uint64_t{1} << random.below(64);
    case 2:
        return random.below(1 << 24) & ~std::uint64_t{63};  // a valid host address
    case 3:
        return ~std::uint64_t{0} >> random.below(64);
    default:
        return random.below(20);
    }
}

inline void some_command(network_host& card, fuzz_random& random) {
    constexpr std::uint8_t opcodes[] = {1, 2, 3, 4, 8, 9, 11};
    constexpr std::uint8_t features[] = {1, 2, 3, 4, 7, 10, 11, 12, 14, 18, 20, 26, 27, 28};
    network_host::command c(random.below(8) == 0 ? static_cast<std::uint8_t>(random.next())
                                                 : opcodes[random.below(std::size(opcodes))]);
    c.bytes[3] = static_cast<std::uint8_t>(random.below(4) << 1);
    for (unsigned offset = 4; offset + 8 <= 64; offset += 4)
        if (random.below(3) != 0) c.put(offset, static_cast<std::uint32_t>(some_value(random)));
    if (c.bytes[2] == 8 || c.bytes[2] == 9) c.put(17, features[random.below(std::size(features))]);
    if (random.below(2) == 0 && c.bytes[2] == 3)  // often a valid completion queue
        c.put<std::uint8_t>(4, 32)
            .put(5, static_cast<std::uint8_t>(2 << random.below(3)))
            .put(6, static_cast<std::uint16_t>(1 << random.below(12)))
            .put(8, static_cast<std::uint32_t>(random.below(10)))
            .put(12, some_value(random) & 0xffff'ffff'ffff);
    if (random.below(2) == 0 && c.bytes[2] == 1)  // often a valid submission queue
        c.put(4, static_cast<std::uint8_t>(random.below(4) << 5))
            .put<std::uint8_t>(6, random.below(3) == 0 ? 3 : 1)
            .put<std::uint8_t>(7, 1)
            .put(8, static_cast<std::uint16_t>(random.below(8)))
            .put(10, static_cast<std::uint16_t>(1 << random.below(12)))
            .put(12, some_value(random) & 0xffff'ffff'ffff);
    if (random.below(8) != 0)
        card.execute(c);
    else
        card.set(0x2c, static_cast<std::uint32_t>(random.next()));
}

/// Writes descriptors with mostly valid fields into the rings of an existing queue pair.
inline void some_descriptors(talker& owner, fuzz_random& random) {
    auto& queue = random.below(2) == 0 ? owner.out : owner.in;
    for (auto n = 1 + random.below(24); n > 0; --n) {
        const auto address = queue.ring + random.below(depth) * 16;
        owner.host.store(address, static_cast<std::uint32_t>(random.next()));
        owner.host.store(address + 4, static_cast<std::uint32_t>(random.next()));
        owner.host.store(address + 8, some_value(random));
        if (random.below(2) == 0)  // a valid buffer
            owner.host.store(address + 8, owner.packets + random.below(4096));
    }
    const auto count = random.below(6) == 0
                           ? static_cast<std::uint32_t>(random.next())
                           : queue.posted + static_cast<std::uint32_t>(random.below(depth));
    owner.host.set(queue.doorbell, count);
    queue.posted = static_cast<std::uint16_t>(count);
}

inline void some_noise(network_host& card, fuzz_random& random) {
    card.set(0x1000 + random.below(0x3000 / 4) * 4, static_cast<std::uint32_t>(random.next()));
    if (random.below(4) == 0) card.agree_low_latency();
    std::vector<std::uint8_t> entry(128);  // an entry of a low latency queue
    for (auto& each : entry) each = static_cast<std::uint8_t>(random.next());
    card.write_ring(random.below(1 << 20) & ~std::size_t{127}, entry);
    if (random.below(4) == 0) {
        constexpr std::uint32_t registers[] = {0x10, 0x14, 0x18, 0x20, 0x24, 0x28, 0x34,
                                               0x38, 0x3c, 0x40, 0x4c, 0x5c, 0x60, 0x64};
        card.set(registers[random.below(std::size(registers))],
                 static_cast<std::uint32_t>(some_value(random)));
    }
}

}  // namespace trn::test::ena_work

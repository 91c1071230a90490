// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "tests/support/cards/disk_host.h"
#include "tests/support/fuzz.h"

/// Workloads on NVMe disks: blocks that are verified, and the requests of a hostile host.
namespace trn::test::nvme_work {

constexpr std::uint64_t data = 0x100000, lists = 0x300000;

inline std::uint64_t some_value(fuzz_random& random) {
    switch (random.below(5)) {
    case 0:
        return random.next();
    case 1:
        return std::uint64_t{1} << random.below(64);
    case 2:
        return random.below(64 << 20) & ~std::uint64_t{4095};
    case 3:
        return lists + random.below(1024) * 8;  // address of a PRP list
    default:
        return random.below(300);
    }
}

inline void some_command(disk_host& disk, fuzz_random& random) {
    constexpr std::uint8_t admin[] = {0, 1, 2, 4, 5, 6, 8, 9, 10, 12};
    constexpr std::uint8_t io[] = {0, 1, 2, 8, 9};
    const auto queue = static_cast<unsigned>(random.below(2));
    const std::uint8_t known = queue == 0 ? admin[random.below(10)] : io[random.below(5)];
    disk_host::command request(
        random.below(8) == 0 ? static_cast<std::uint8_t>(random.next()) : known,
        random.below(8) == 0 ? static_cast<std::uint32_t>(some_value(random)) : 1);
    request.prps(some_value(random), some_value(random));
    for (unsigned word = 10; word < 16; ++word)
        if (random.below(3) != 0) request.set(word, static_cast<std::uint32_t>(some_value(random)));
    if (random.below(2) == 0) request.set(11, 0);
    if (random.below(4) == 0)  // a transfer whose PRP list continues in another page
        request.prps(data, lists + (512 - random.below(4)) % 512 * 8)
            .set(10, static_cast<std::uint32_t>(random.below(300)))
            .set(12, static_cast<std::uint32_t>(random.below(256)));
    disk.post(queue, request);
}

inline void some_noise(disk_host& disk, fuzz_random& random) {
    const auto put = [&](std::uint64_t entry, std::uint64_t value) {
        std::memcpy(disk.bytes(lists + entry * 8), &value, sizeof value);
    };
    for (unsigned i = 0; i < 16; ++i) put(random.below(1024), some_value(random));
    // List pages that refer to each other, or to themselves.
    for (const std::uint64_t last : {511, 1023})
        if (random.below(2) == 0) put(last, lists + random.below(2) * 4096);
    switch (random.below(4)) {
    case 0:
        return disk.set(0x1000 + random.below(140) * 4, static_cast<std::uint32_t>(random.next()));
    case 1:
        return disk.set(0x1000 + random.below(6) * 4, static_cast<std::uint32_t>(random.below(20)));
    case 2:
        return disk.set(random.below(16) * 4, static_cast<std::uint32_t>(some_value(random)));
    default:
        disk.poll(static_cast<unsigned>(random.below(2)));
    }
}

/// Writes 8 KiB, reads the data back and compares.
inline void copy_and_compare(disk_host& disk, fuzz_random& random) {
    for (unsigned i = 0; i < 8192; ++i)
        disk.bytes(data)[i] = static_cast<std::uint8_t>(random.next());
    const std::uint64_t block = random.below(1000);
    require(disk.execute(1, disk_host::io(1, block, 16, data)).status() == 0, "a write has failed");
    require(disk.execute(1, disk_host::io(2, block, 16, data + 8192)).status() == 0,
            "a read has failed");
    require(std::equal(disk.bytes(data), disk.bytes(data) + 8192, disk.bytes(data + 8192)),
            "blocks are wrong");
}

}  // namespace trn::test::nvme_work

// SPDX-License-Identifier: Apache-2.0
// A hostile host: arbitrary commands, page lists, doorbells and register writes on one NVMe disk.
// After each reset the disk works as at first.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "models/misuse_rules.h"
#include "platform/framework/log.h"
#include "platform/framework/misuse/misuse.h"
#include "tests/support/fuzz.h"
#include "tests/unit/nvme_controller/disk_driver.h"

namespace {

using namespace trn;
using test::disk_driver;
using test::fuzz_random;

constexpr std::uint64_t data = 0x100000, lists = 0x300000;

std::uint64_t some_value(fuzz_random& random) {
    switch (random.below(5)) {
    case 0:
        return random.next();
    case 1:
        return std::uint64_t{1} << random.below(64);
    case 2:
        return random.below(64 << 20) & ~std::uint64_t{4095};
    case 3:
        return lists + random.below(1024) * 8;  // a list
    default:
        return random.below(300);
    }
}

void some_command(disk_driver& disk, fuzz_random& random) {
    constexpr std::uint8_t admin[] = {0, 1, 2, 4, 5, 6, 8, 9, 10, 12};
    constexpr std::uint8_t io[] = {0, 1, 2, 8, 9};
    const auto queue = static_cast<unsigned>(random.below(2));
    const std::uint8_t known = queue == 0 ? admin[random.below(10)] : io[random.below(5)];
    disk_driver::command what(
        random.below(8) == 0 ? static_cast<std::uint8_t>(random.next()) : known,
        random.below(8) == 0 ? static_cast<std::uint32_t>(some_value(random)) : 1);
    what.prps(some_value(random), some_value(random));
    for (unsigned word = 10; word < 16; ++word)
        if (random.below(3) != 0) what.set(word, static_cast<std::uint32_t>(some_value(random)));
    if (random.below(2) == 0) what.set(11, 0);
    disk.post(queue, what);
}

void some_noise(disk_driver& disk, fuzz_random& random) {
    for (unsigned i = 0; i < 16; ++i) {
        const std::uint64_t value = some_value(random);
        std::memcpy(disk.bytes(lists + random.below(1024) * 8), &value, 8);
    }
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

/// Writes 8 KiB and reads them back.
void check(disk_driver& disk, fuzz_random& random) {
    for (unsigned i = 0; i < 8192; ++i)
        disk.bytes(data)[i] = static_cast<std::uint8_t>(random.next());
    const std::uint64_t block = random.below(1000);
    const auto wrote = disk.execute(1, disk_driver::io(1, block, 16, data)).status();
    const auto read = disk.execute(1, disk_driver::io(2, block, 16, data + 8192)).status();
    if (wrote == 0 && read == 0 &&
        std::equal(disk.bytes(data), disk.bytes(data) + 8192, disk.bytes(data + 8192)))
        return;
    std::fprintf(stderr, "the disk does not work after a reset\n");
    std::abort();
}

}  // namespace

int sc_main(int argc, char** argv) {
    log::replace_sink({});
    misuse::set_rules(misuse::all_rules);
    disk_driver disk({.capacity = 64 << 20, .write_cache = 1 << 20});
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    return test::fuzz(argc, argv, [&](fuzz_random& random) {
        disk.start();
        check(disk, random);
        for (auto n = 5 + random.below(80); n > 0; --n) {
            if (random.below(2) == 0)
                some_noise(disk, random);
            else
                some_command(disk, random);
            if (random.below(4) == 0) disk_driver::run(static_cast<double>(1 + random.below(300)));
        }
        if (random.below(8) == 0) disk.disk.inject("power_loss", {});
    });
}

int main(int argc, char** argv) {
    setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
    return sc_core::sc_elab_and_sim(argc, argv);
}

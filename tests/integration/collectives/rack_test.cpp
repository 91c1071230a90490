// SPDX-License-Identifier: Apache-2.0
// Collectives over whole racks: results, memory use and time of all cores.
#include <cstdio>

#include "tests/integration/collectives/group.h"
#include "tests/support/sizes.h"

namespace trn::test {
namespace {

std::uint64_t resident_bytes() {
    unsigned long pages = 0;
    std::FILE* file = std::fopen("/proc/self/statm", "r");
    if (file == nullptr) return 0;
    const int found = std::fscanf(file, "%*u %lu", &pages);
    std::fclose(file);
    return found == 1 ? pages * std::uint64_t{4096} : 0;
}

using RackCollectives = CollectiveTest;

TEST_F(RackCollectives, ThousandsOfWaitingCoresUseLittleMemory) {
    boot("trn3-gen2");
    run_each(all(), [](std::size_t, device& on) {
        on.check(trn_probe(on));
        on.check(trn_reset_device(on));
    });
    const auto before = resident_bytes();
    const auto firmware = image();
    run_each(all(), [&](std::size_t, device& on) {
        on.check(trn_cc_load(on, 0xffff, firmware.data(), firmware.size()));
    });
    EXPECT_LT(resident_bytes() - before, 256 * MiB) << "2,304 harts";
    RecordProperty("MiB", static_cast<int>((resident_bytes() - before) / MiB));
    std::printf("%.1f MiB\n", static_cast<double>(resident_bytes() - before) / MiB);
}

TEST_F(RackCollectives, EveryStepOfALongRingIsRecorded) {
    boot("trn3-gen2");
    collective_group group(*this, all(), image());
    const auto how = group.run(
        {.op = TRN_COLL_ALL_REDUCE, .algorithm = TRN_COLL_RING, .bytes = 4 * KiB, .steps = true});
    for (const auto& rank : how.steps) ASSERT_EQ(rank.ends_ns.size(), 286u);
    const auto& first = how.steps.front();
    EXPECT_NEAR(static_cast<double>(first.end_ns - first.begin_ns), how.ns, 10'000);
}

}  // namespace
}  // namespace trn::test

// SPDX-License-Identifier: Apache-2.0
// A hostile host: arbitrary commands, page lists, doorbells and register writes on one NVMe disk,
// whose host may share its memory by messages only.
// After each reset the disk works as initially.
#include <cstdint>
#include <cstdlib>

#include "models/misuse_rules.h"
#include "platform/framework/log.h"
#include "platform/framework/misuse/misuse.h"
#include "tests/support/cards/nvme_work.h"
#include "tests/support/fuzz.h"
#include "tests/unit/cards/nvme/controller/disk_driver.h"

namespace {

using namespace trn;
using namespace test::nvme_work;
using test::disk_driver;
using test::fuzz_random;

}  // namespace

int sc_main(int argc, char** argv) {
    log::replace_sink({});
    misuse::set_rules(misuse::all_rules);
    disk_driver disk({.capacity = 64 << 20, .write_cache = 1 << 20});
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    return test::fuzz(argc, argv, [&](fuzz_random& random) {
        disk.messages.attach(random.below(2) == 0);
        disk.start();
        copy_and_compare(disk, random);
        for (auto n = 5 + random.below(80); n > 0; --n) {
            if (random.below(2) == 0)
                some_noise(disk, random);
            else
                some_command(disk, random);
            if (random.below(16) == 0) disturb(disk.messages, random);
            if (random.below(4) == 0) disk_driver::run(static_cast<double>(1 + random.below(300)));
        }
        if (random.below(8) == 0) disk.disk.inject("power_loss", {});
    });
}

int main(int argc, char** argv) {
    setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
    return sc_core::sc_elab_and_sim(argc, argv);
}

// SPDX-License-Identifier: Apache-2.0
// The recorded driver session on a complete chip with its firmware, started by `trnvp run`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/integration/vfio_user/replay.h"
#include "tests/integration/vfio_user/running_board.h"
#include "tests/support/scratch_folder.h"

namespace {

using namespace trn;

TEST(RealChipTest, ServesTheProbeOfThePublicDriver) {
    const test::scratch_folder folder;
    test::running_board chip("trn3-chip-sim", folder);
    const std::string socket = chip.socket("chip0");
    ASSERT_FALSE(socket.empty()) << chip.output();
    test::replay("neuron-2.26.5-trn3-rev255-zeroedBARs.trace.gz", socket, false);
    chip.stop();
    // All registers used by the driver exist.
    EXPECT_THAT(chip.output(), testing::Not(testing::HasSubstr("host-read-of-nothing")));
    EXPECT_THAT(chip.output(), testing::Not(testing::HasSubstr("host-write-to-nothing")));
    EXPECT_THAT(chip.output(), testing::Not(testing::HasSubstr("host-access-refused")));
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// The recorded driver on a whole chip with its firmware, started as a user starts it.
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
    // No register that the driver uses is missing.
    EXPECT_THAT(chip.output(), testing::Not(testing::HasSubstr("host-read-of-nothing")));
    EXPECT_THAT(chip.output(), testing::Not(testing::HasSubstr("host-write-to-nothing")));
    EXPECT_THAT(chip.output(), testing::Not(testing::HasSubstr("host-access-refused")));
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
#include "platform/app/commands/guarded.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace {

using testing::internal::CaptureStderr;
using testing::internal::GetCapturedStderr;

/// Of a block that throws in the hook of a register, which `trnctl poke` has written.
TEST(Guarded, AnExceptionOfABlockOutsideOfProcessesIsOneSentence) {
    CaptureStderr();
    EXPECT_EQ(trn::guarded([]() -> int { throw std::logic_error("its table is empty"); }), 1);
    EXPECT_EQ(GetCapturedStderr(), "trnvp: error at 0 s: uncaught exception: its table is empty\n");
}

TEST(Guarded, AnObjectOfAnUnknownTypeIsOneSentence) {
    CaptureStderr();
    EXPECT_EQ(trn::guarded([]() -> int { throw 42; }), 1);
    EXPECT_EQ(GetCapturedStderr(),
              "trnvp: error at 0 s: uncaught exception: an object of an unknown type\n");
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Texts of programs for collectives.
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "sw-stubs/host/programs/collectives.h"

namespace trn {
namespace {

std::string fault_of(const std::string& text) {
    try {
        program_collective::read(text);
    } catch (const std::runtime_error& wrong) {
        return wrong.what();
    }
    return "";
}

TEST(ProgramCollective, ATextGivesOperationTensorsSemaphoreAndOptions) {
    const auto read = program_collective::read(
        "all_reduce product -> sum S[30] algorithm=ring operator=max lanes=2 channels=3 "
        "limit_us=200");
    EXPECT_EQ(read.send, "product");
    EXPECT_EQ(read.receive, "sum");
    EXPECT_EQ(read.request.op, TRN_COLL_ALL_REDUCE);
    EXPECT_EQ(read.request.algorithm, TRN_COLL_RING);
    EXPECT_EQ(read.request.with, TRN_COLL_MAX);
    EXPECT_EQ(read.request.lanes, 2u);
    EXPECT_EQ(read.request.channels, 3u);
    EXPECT_EQ(read.request.limit_ns, 200'000u);
    ASSERT_TRUE(read.request.done);
    EXPECT_EQ(read.request.done->index, 30u);
}

TEST(ProgramCollective, ABarrierHasNoTensorsAndOneChannelUnlessGiven) {
    const auto read = program_collective::read("barrier S[7]");
    EXPECT_EQ(read.send, "");
    EXPECT_EQ(read.request.channels, 1u);
    EXPECT_EQ(read.request.done->index, 7u);
}

TEST(ProgramCollective, AWrongTextIsExplainedInASentence) {
    EXPECT_EQ(fault_of(""), "a collective begins with its operation, such as all_reduce");
    EXPECT_TRUE(fault_of("all_redce x -> y S[1]").starts_with("'all_redce' is not a collective ("));
    EXPECT_EQ(fault_of("all_reduce x y S[1]"),
              "all_reduce needs two tensors: all_reduce product -> sum S[30]");
    EXPECT_EQ(fault_of("all_reduce x -> y"),
              "a collective names the semaphore that it adds to at its end: S[30]");
    EXPECT_EQ(fault_of("all_reduce x -> y S[256]"),
              "a semaphore is a number from 0 to 255, not '256'");
    EXPECT_EQ(fault_of("all_reduce x -> y S[1] channels=9"),
              "channels is a number from 0 to 8, not '9'");
    EXPECT_EQ(fault_of("all_reduce x -> y S[1] channels=0"),
              "a collective has at least one channel");
    EXPECT_EQ(fault_of("all_reduce x -> y S[1] lanes=-1"),
              "lanes is a number from 0 to 16, not '-1'");
    EXPECT_EQ(fault_of("all_reduce x -> y S[1] lane=1"),
              "'lane' is not an option of a collective (algorithm, operator, root, channels, "
              "lanes, limit_us)");
    EXPECT_EQ(fault_of("all_gather_v x -> y S[1]"), "programs cannot start all_gather_v");
    EXPECT_EQ(fault_of("all_reduce x -> y S[1] algorithm=mesh"),
              "all-reduce has no algorithm mesh");
    EXPECT_EQ(fault_of("all_reduce x -> y S[1] twice"),
              "'twice' is neither a semaphore, S[30], nor an option, channels=1");
}

}  // namespace
}  // namespace trn

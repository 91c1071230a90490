// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/kernel/time_policy.h"

#include <gtest/gtest.h>

#include "platform/framework/kernel/random.h"
#include "platform/framework/kernel/time_text.h"

namespace {

using trn::time_policy;

TEST(TimePolicyTest, ReadsItsOwnOutput) {
    for (const auto* text : {"lockstep", "free", "realtime:1", "realtime:0.5", "realtime:1000"}) {
        const auto policy = time_policy::parse(text);
        ASSERT_TRUE(policy) << text;
        EXPECT_EQ(policy->text(), text);
    }
    EXPECT_EQ(time_policy::parse("realtime")->factor, 1.0);
}

TEST(TimePolicyTest, RefusesUnknownPoliciesAndInvalidFactors) {
    for (const auto* text :
         {"", "fast", "realtime:", "realtime:0", "realtime:-1", "realtime:inf", "realtime:nan",
          "realtime:1e300", "realtime:1e-300", "realtime:2x", "free:1", "Lockstep"})
        EXPECT_FALSE(time_policy::parse(text)) << text;
}

TEST(TimeTextTest, PrintsExactTimes) {
    using sc_core::sc_time;
    EXPECT_EQ(trn::to_text(sc_core::SC_ZERO_TIME), "0 s");
    EXPECT_EQ(trn::to_text(sc_time(1.5, sc_core::SC_US)), "1.5 us");
    EXPECT_EQ(trn::to_text(sc_time(250, sc_core::SC_NS)), "250 ns");
    EXPECT_EQ(trn::to_text(sc_time::from_value(1'000'000'000'001)), "1.000000000001 s");
    EXPECT_EQ(trn::to_text(sc_time::from_value(7)), "7 ps");
}

TEST(RandomTest, StreamDependsOnSeedAndModuleNameOnly) {
    trn::set_seed(1);
    const auto first = trn::seed_for("chip0.udma3");
    EXPECT_EQ(trn::seed_for("chip0.udma3"), first);
    EXPECT_NE(trn::seed_for("chip0.udma4"), first);
    trn::set_seed(2);
    EXPECT_NE(trn::seed_for("chip0.udma3"), first);
    trn::set_seed(1);
    EXPECT_EQ(trn::seed_for("chip0.udma3"), first);
}

}  // namespace

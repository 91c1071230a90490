// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/config/wildcards.h"

#include <gtest/gtest.h>

#include <string>

namespace trn {
namespace {

TEST(Wildcards, OfNamesMatchAnyPartBetweenTwoDots) {
    EXPECT_TRUE(matches_name("chip0.hbm*", "chip0.hbm3"));
    EXPECT_TRUE(matches_name("*.hbm*", "chip0.hbm"));
    EXPECT_TRUE(matches_name("*.*1*.cpu", "chip0.a11b1.cpu"));
    EXPECT_FALSE(matches_name("chip0.*", "chip0.a.b"));
    EXPECT_FALSE(matches_name("*", "a.b"));
    EXPECT_FALSE(matches_name("chip.", "chip0"));
    EXPECT_FALSE(matches_name("chip0.hbm*", "chip0.hb"));
    EXPECT_FALSE(matches_name("", "a"));
    EXPECT_TRUE(matches_name("chip?.hbm0", "chip1.hbm0"));
    EXPECT_FALSE(matches_name("chip0?hbm0", "chip0.hbm0"));
    EXPECT_TRUE(matches_wildcards("chip*hbm0", "chip0.hbm0"));
}

TEST(Wildcards, TakeNoExponentialTime) {
    EXPECT_TRUE(matches_name(std::string(50'000, '*'), "a"));
    EXPECT_FALSE(matches_name("*a*a*a*a*a*a*a*a*a*b", std::string(60, 'a')));
}

}  // namespace
}  // namespace trn

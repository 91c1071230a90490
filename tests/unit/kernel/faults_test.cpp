// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "platform/framework/kernel/fault_arguments.h"
#include "platform/framework/kernel/introspection.h"

namespace trn {
namespace {

struct cable final : accepts_faults {
    std::vector<fault> faults() override {
        return {{"cut", "until mended, whatever its ends' state", [this](auto&) { whole = false; }},
                {"mend", "ends cut", [this](auto&) { whole = true; }},
                {"heat", "'kelvin': -100 to 200", [this](auto& arguments) {
                     kelvin = fault_signed(arguments, "kelvin", -100, 200);
                 }}};
    }
    /// The message of a refused fault; "" if it is injected.
    std::string refusal(std::string_view name, const fault_arguments& arguments = {}) {
        try {
            inject(name, arguments);
            return "";
        } catch (const fault_error& why) {
            return why.what();
        }
    }
    bool whole = true;
    std::int64_t kelvin = 0;
};

TEST(Faults, InjectRunsTheActionOfItsRow) {
    cable c;
    c.inject("cut", {});
    EXPECT_FALSE(c.whole);
    c.inject("mend", {});
    EXPECT_TRUE(c.whole);
}

TEST(Faults, UnknownFaultSuggestsTheNearest) {
    cable c;
    EXPECT_THAT(c.refusal("mned"), testing::HasSubstr("has no fault 'mned'"));
    EXPECT_THAT(c.refusal("mned"), testing::HasSubstr("did you mean 'mend'?"));
}

TEST(Faults, WordsOfTheDescriptionAreNoArguments) {
    cable c;
    EXPECT_THAT(c.refusal("cut", {{"until", "5 ms"}}),
                testing::HasSubstr("the fault 'cut' has no arguments (until mended"));
    EXPECT_TRUE(c.whole);
    EXPECT_THAT(c.refusal("heat", {{"kelvin", "1"}, {"to", "1"}}),
                testing::HasSubstr("the fault 'heat' has no argument 'to'"));
    EXPECT_THAT(c.refusal("heat", {{"kelvn", "1"}}), testing::HasSubstr("did you mean 'kelvin'?"));
}

TEST(Faults, SignedArgumentsAreBounded) {
    cable c;
    EXPECT_EQ(c.refusal("heat", {{"kelvin", "-100"}}), "");
    EXPECT_EQ(c.kelvin, -100);
    EXPECT_EQ(c.refusal("heat", {{"kelvin", "201"}}), "kelvin must be a number from -100 to 200");
    EXPECT_EQ(c.refusal("heat", {{"kelvin", "hot"}}), "kelvin must be a number from -100 to 200");
    EXPECT_EQ(c.refusal("heat"), "kelvin is missing");
}

}  // namespace
}  // namespace trn

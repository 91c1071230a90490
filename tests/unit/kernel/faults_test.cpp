// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/kernel/faults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <systemc>

namespace trn {
namespace {

struct cable final : accepts_faults {
    std::vector<fault> faults() override {
        return {
            {"cut", "dead until mended", {}, [this](auto&) { whole = false; }},
            {"mend", "ends cut", {}, [this](auto&) { whole = true; }},
            {"heat",
             "another temperature",
             {fault_argument::number("kelvin", -100, 200, "added").in_unit("K")},
             [this](const fault_values& given) { kelvin = given.number<std::int64_t>("kelvin"); }},
            {"damage",
             "for a while",
             {fault_argument::size("at", 36ull << 30, "first byte"),
              fault_argument::time("for", sc_core::sc_time(1, sc_core::SC_SEC), "how long")
                  .by_default(10'000'000),
              fault_argument::real("rate", 0, 0.1, "of all").by_default(0.05),
              fault_argument::number("bit", 0, 7, "of the byte").random_by_default()},
             [this](const fault_values& given) {
                 at = given.number("at");
                 span = given.time("for");
                 rate = given.real("rate");
                 has_bit = given.has("bit");
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
    std::uint64_t at = 0;
    sc_core::sc_time span;
    double rate = 0;
    bool has_bit = false;
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

TEST(Faults, UnknownArgumentsAreRefusedWithTheNearestName) {
    cable c;
    EXPECT_EQ(c.refusal("cut", {{"until", "5 ms"}}),
              "the fault 'cut' has no arguments, such as 'until'");
    EXPECT_TRUE(c.whole);
    EXPECT_THAT(c.refusal("heat", {{"kelvin", "1"}, {"to", "1"}}),
                testing::HasSubstr("the fault 'heat' has no argument 'to'"));
    EXPECT_THAT(c.refusal("heat", {{"kelvn", "1"}}), testing::HasSubstr("did you mean 'kelvin'?"));
}

TEST(Faults, NumbersAreBounded) {
    cable c;
    EXPECT_EQ(c.refusal("heat", {{"kelvin", "-100"}}), "");
    EXPECT_EQ(c.kelvin, -100);
    EXPECT_EQ(c.refusal("heat", {{"kelvin", "201"}}),
              "the fault 'heat': 'kelvin': 201 is out of range: -100 to 200 K");
    EXPECT_EQ(
        c.refusal("heat", {{"kelvin", "hot"}}),
        "the fault 'heat': 'kelvin': 'hot' is not a number (expected: number, -100 to 200 K)");
    EXPECT_EQ(c.refusal("heat"), "the fault 'heat' needs 'kelvin': added (number, -100 to 200 K)");
    EXPECT_EQ(c.kelvin, -100);
}

TEST(Faults, SizesAndTimesHaveUnits) {
    cable c;
    EXPECT_EQ(c.refusal("damage", {{"at", "16 MiB"}, {"for", "3 us"}, {"rate", "0.1"}}), "");
    EXPECT_EQ(c.at, 16u << 20);
    EXPECT_EQ(c.span, sc_core::sc_time(3, sc_core::SC_US));
    EXPECT_EQ(c.rate, 0.1);
    EXPECT_EQ(c.refusal("damage", {{"at", "0x1000"}}), "");
    EXPECT_EQ(c.at, 0x1000u);
    EXPECT_EQ(c.span, sc_core::sc_time(10, sc_core::SC_US));
    EXPECT_EQ(c.rate, 0.05);
    EXPECT_FALSE(c.has_bit);
    EXPECT_THAT(c.refusal("damage", {{"at", "36 GiB"}}),
                testing::HasSubstr("'at': 36 GiB is out of range: below 36 GiB"));
    EXPECT_THAT(c.refusal("damage", {{"at", "4 KB"}}),
                testing::HasSubstr("'KB' is not a unit of size"));
    EXPECT_THAT(
        c.refusal("damage", {{"at", "0"}, {"for", "3"}}),
        testing::HasSubstr("'3' needs a unit: write a time like '3 ns', '3 us', '3 ms' or '3 s'"));
    EXPECT_THAT(c.refusal("damage", {{"at", "0"}, {"for", "2 s"}}),
                testing::HasSubstr("'for': 2 s is out of range: 0 to 1 s"));
    EXPECT_THAT(c.refusal("damage", {{"at", "0"}, {"rate", "0.2"}}),
                testing::HasSubstr("'rate': 0.2 is out of range: 0 to 0.1"));
}

TEST(Faults, CheckHasNoEffect) {
    cable c;
    c.check("cut", {});
    EXPECT_TRUE(c.whole);
    EXPECT_THROW(c.check("heat", {}), fault_error);
}

}  // namespace
}  // namespace trn

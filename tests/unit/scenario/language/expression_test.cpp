// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/language/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trn::scenario {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

expression made(std::string_view text) {
    std::string fault;
    return expression::parse(text, fault).value();
}

TEST(ScenarioExpression, FindsTheFirstMatchAndItsGroups) {
    const auto found =
        made("port (\\d+)( slowly)? works: (Gen\\d)").search(".. port 7 works: Gen6!", 3);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->end, 21u);
    EXPECT_THAT(found->groups, ElementsAre("7", "", "Gen6"));
    EXPECT_FALSE(made("port (\\d+)").search("port x", 1));
}

TEST(ScenarioExpression, MatchesBinaryBytes) {
    const std::string text = std::string("\xff\x00 \x9b", 4) + "\u00b5s: 12 end";
    const auto found = made("\u00b5s: (\\d+)").search(text, 1);
    ASSERT_TRUE(found);
    EXPECT_THAT(found->groups, ElementsAre("12"));
    EXPECT_TRUE(made("\\xff.").search(text, 0));
}

TEST(ScenarioExpression, MatchingTimeIsLinearInTheText) {
    std::string text(200'000, 'a');
    for (const auto* backtracks : {"(a|b)*c", "(a*)*b", "((a|aa)+)+$x", "(.*)(.*)(.*)(.*)(.*)z"})
        EXPECT_FALSE(made(backtracks).search(text, 0)) << backtracks;
    EXPECT_TRUE(made("(a|b)*c").search(text + "c", 1));
}

TEST(ScenarioExpression, InvalidOrOversizedExpressionIsRefused) {
    for (const auto& text : {std::string("["), std::string("(a"), std::string("a{3000}"),
                             std::string("(((a{100}){100}){100}){100}"),
                             std::string(expression::max_length + 1, 'a')}) {
        std::string fault;
        EXPECT_FALSE(expression::parse(text, fault)) << text.substr(0, 20);
        EXPECT_THAT(fault, HasSubstr("regular expression")) << text.substr(0, 20);
    }
}

}  // namespace
}  // namespace trn::scenario

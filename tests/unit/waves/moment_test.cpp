// SPDX-License-Identifier: Apache-2.0
#include "platform/app/moment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace trn {
namespace {

using ::testing::HasSubstr;

TEST(Moment, IsATimeReadyOrAComparison) {
    EXPECT_EQ(parse_moment("--x", " 2 ms ").picoseconds, 2'000'000'000u);
    const auto ready = parse_moment("--x", "ready");
    EXPECT_FALSE(ready.picoseconds);
    EXPECT_EQ(ready.signal, "");
    const std::vector<std::pair<const char*, moment::relation>> signs{
        {"==", moment::relation::equal},    {"!=", moment::relation::not_equal},
        {">=", moment::relation::at_least}, {"<=", moment::relation::at_most},
        {">", moment::relation::more},      {"<", moment::relation::less}};
    for (const auto& [sign, relation] : signs) {
        const auto asked = parse_moment("--x", std::string("chip0.uart.LSR ") + sign + "0x60");
        EXPECT_EQ(asked.signal, "chip0.uart.LSR");
        EXPECT_EQ(asked.value, "0x60");
        EXPECT_EQ(asked.compared, relation);
    }
}

TEST(Moment, RefusalsNameTheOptionAndWhatWasExpected) {
    const auto refusal = [](const std::string& text) -> std::string {
        try {
            parse_moment("--vcd-from", text, " 'off',");
        } catch (const std::invalid_argument& wrong) {
            return wrong.what();
        }
        return "accepted";
    };
    EXPECT_THAT(refusal("never"), HasSubstr("--vcd-from: 'never' is not 'ready', 'off', a simul"));
    EXPECT_THAT(refusal("2 parsecs"), HasSubstr("--vcd-from"));
    EXPECT_THAT(refusal(""), HasSubstr("is not 'ready'"));
    EXPECT_THAT(refusal("a == "), HasSubstr("SIGNAL == VALUE was expected"));
    EXPECT_THAT(refusal(" >= 3"), HasSubstr("SIGNAL >= VALUE was expected"));
    EXPECT_THAT(refusal("a === 3"), HasSubstr("SIGNAL == VALUE was expected"));
    EXPECT_THAT(refusal("a = 3"), HasSubstr("is not 'ready'"));
    EXPECT_THAT(refusal(std::string(2000, 'a')), HasSubstr("longer than 1024 characters"));
}

/// Random texts of the language's own pieces are accepted or refused in one sentence.
TEST(Moment, AnyTextIsReadOrRefused) {
    const std::vector<std::string> pieces{"==",  "!=", "<",  ">=",    "=",    "ready",
                                          "2",   "ms", " ",  "chip0", ".",    "LSR",
                                          "[3]", "*",  "0x", "\n",    "\xff", "-"};
    std::mt19937 random(1);
    unsigned accepted = 0;
    for (int n = 0; n < 20'000; ++n) {
        std::string text;
        for (auto count = random() % 8; count > 0; --count)
            text += pieces[random() % pieces.size()];
        try {
            const auto asked = parse_moment("--x", text);
            ++accepted;
            EXPECT_TRUE(asked.signal.empty() == asked.value.empty()) << text;
        } catch (const std::invalid_argument& wrong) {
            EXPECT_THAT(wrong.what(), HasSubstr("--x"));
        }
    }
    EXPECT_GT(accepted, 100u);
}

}  // namespace
}  // namespace trn

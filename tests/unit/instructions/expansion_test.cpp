// SPDX-License-Identifier: Apache-2.0
#include "models/assembler/expansion.h"

#include <gmock/gmock.h>

#include "models/assembler/assembler.h"

namespace {

using namespace trn;
using namespace trn::isa;
using testing::HasSubstr;

std::string expanded(std::string_view text) {
    diagnostics mistakes;
    std::string all;
    for (const source_line& one : expand(text, "text", mistakes))
        all += std::to_string(one.number) + ":" + one.text + "\n";
    mistakes.throw_if_any();
    return all;
}

std::string mistakes_of(std::string_view text) {
    try {
        assemble(text, "text");
    } catch (const config_error& error) {
        return error.what();
    }
    return "";
}

TEST(Expansion, RepetitionsNestAndCountFromZero) {
    EXPECT_EQ(expanded(".set n 3\n"
                       ".repeat i n - 1\n"
                       "  a{i}\n"
                       "  .repeat j 2\n"
                       "    b{10 * i + j}, {-(n - 5) % 2}\n"
                       "  .end\n"
                       ".end\n"
                       "{n}"),
              "3:  a0\n5:    b0, 0\n5:    b1, 0\n"
              "3:  a1\n5:    b10, 0\n5:    b11, 0\n8:3\n");
}

TEST(Expansion, DefinitionsAreReplacedWhereTheyAreUsed) {
    EXPECT_EQ(expanded(".define at sbuf[0, {4 * k}]  # of element k\n"
                       ".define both {at} and {at}\n"
                       ".repeat k 2\n"
                       "{both} # comment {not read}\n"
                       ".end"),
              "4:sbuf[0, 0] and sbuf[0, 0] \n4:sbuf[0, 4] and sbuf[0, 4] \n");
}

TEST(Expansion, ALaterSetReplacesAConstantAndRepetitionsRestoreTheirName) {
    EXPECT_EQ(expanded(".set a 0x10\n.set a a + 1\n{a}\n.repeat a 1\n{a}\n.end\n{a}"),
              "3:17\n5:0\n7:17\n");
    EXPECT_EQ(expanded(".repeat a 0\nx\n.end"), "");
}

TEST(Expansion, AssemblesToTheSameWordsAsTheLinesWrittenOut) {
    EXPECT_EQ(assemble(".repeat k 2\nlabel{k}: nop\nbranch target=label{k}\n.end", "a")[0].words,
              assemble("x: nop\nbranch target=x\ny: nop\nbranch target=y", "b")[0].words);
}

TEST(Expansion, MistakesNameLineAndColumnOnce) {
    EXPECT_THAT(mistakes_of(".set rows 4\n.repeat k 3\nhalt code={k * row}\n.end"),
                testing::AllOf(HasSubstr("text:3:16"), HasSubstr("no constant 'row'"),
                               HasSubstr("did you mean 'rows'?")));
    const std::string repeated = mistakes_of(".repeat k 1000\nhalt code={1 / 0}\n.end");
    EXPECT_EQ(repeated.find("division by 0"), repeated.rfind("division by 0"));
    EXPECT_THAT(mistakes_of("nop\n.repeat k 2\nnop"), HasSubstr("text:2:1: E08 .repeat without"));
    EXPECT_THAT(mistakes_of("nop\n.end"), HasSubstr("text:2:1: E08 .end without .repeat"));
    EXPECT_THAT(mistakes_of(".set 3"), HasSubstr("expected a constant and its value"));
    EXPECT_THAT(mistakes_of("halt code={1"), HasSubstr("'{' without '}'"));
    EXPECT_THAT(mistakes_of("halt code={2 3}"), HasSubstr("text:1:14"));
    EXPECT_THAT(mistakes_of("halt code={9223372036854775807 + 1}"), HasSubstr("64 bits"));
    EXPECT_THAT(mistakes_of(".repeat k 1\nhalt cod={k}\n.end"), HasSubstr("did you mean 'code'?"));
}

TEST(Expansion, HasLimits) {
    std::string nested;
    for (int n = 0; n < 4; ++n) nested += ".repeat a" + std::to_string(n) + " 1000\n";
    EXPECT_THAT(mistakes_of(nested + ".end\n.end\n.end\n.end"), HasSubstr("too many"));
    EXPECT_THAT(mistakes_of(".repeat k 2000000\nnop\n.end"), HasSubstr("0 to 1048576"));
    EXPECT_THAT(mistakes_of(".define a {b}{b}\n.define b {a}{a}\n{a}"), HasSubstr("by itself"));
    EXPECT_THAT(mistakes_of("halt code={" + std::string(100, '(') + "1}"), HasSubstr("too deep"));
    std::string doubled = ".define a0 xxxx\n";
    for (int n = 1; n < 30; ++n)
        doubled += ".define a" + std::to_string(n) + " {a" + std::to_string(n - 1) + "}{a" +
                   std::to_string(n - 1) + "}\n";
    EXPECT_THAT(mistakes_of(doubled + "{a29}"), HasSubstr("too long"));
}

}  // namespace

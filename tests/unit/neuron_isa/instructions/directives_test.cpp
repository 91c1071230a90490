// SPDX-License-Identifier: Apache-2.0
// Loader directives in texts: tensors, transfers, addresses, constants and repetition.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/neuron_isa/assembler/assembler.h"
#include "platform/framework/config/diagnostics.h"

using namespace trn;
using namespace trn::isa;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

namespace {

std::string mistakes_of(std::string_view text) {
    try {
        assemble_set(text, "text");
    } catch (const config_error& error) {
        return error.what();
    }
    return "";
}

program_set of(std::string_view text) {
    return assemble_set(text, "text");
}

TEST(Directives, ConstantsRepetitionAndChoiceAreCarriedOutBeforeInstructionsAreRead) {
    const auto expanded = of(R"(
.set N 2 + 1 * 4 - (1 << 1)
.engine sync
.repeat i N
.repeat j 2
.if i % 2 == 0 && j != 0
    halt code={N * 10 + i}
.else
    delay cycles={i * 2 + j}
.end
.end
.end
)");
    const auto plain = of(R"(
.engine sync
    delay cycles=0
    halt code=40
    delay cycles=2
    delay cycles=3
    delay cycles=4
    halt code=42
    delay cycles=6
    delay cycles=7
)");
    EXPECT_EQ(expanded.streams.at(0).words, plain.streams.at(0).words);
    EXPECT_EQ(expanded.streams.at(0).lines, (std::vector<int>{9, 7, 9, 9, 9, 7, 9, 9}));
}

TEST(Directives, ExpressionsHaveTheOperatorsOfC) {
    const auto value = [](const std::string& expression) {
        const auto words =
            of(".engine sync\n halt code={" + expression + "}\n").streams.at(0).words;
        return words.at(24) | words.at(25) << 8 | words.at(26) << 16 | words.at(27) << 24;
    };
    EXPECT_EQ(value("6 ^ 3"), 5);
    EXPECT_EQ(value("~5 & 0xff"), 0xfa);
    EXPECT_EQ(value("1 | 6 ^ 3 & 2"), 1 | (6 ^ (3 & 2)));
    EXPECT_EQ(value("8 ^ 1 == 1"), 8 ^ 1);
    EXPECT_EQ(value("+7 - -1"), 8);
    EXPECT_EQ(value("1 ? 2 : 0 ? 3 : 4"), 2);
    EXPECT_EQ(value("0 ? 2 : 0 ? 3 : 4"), 4);
    EXPECT_EQ(value("(2 > 1 ? 10 : 20) + 1"), 11);
}

TEST(Directives, OperandsThatCDoesNotEvaluateMayDivideByZero) {
    EXPECT_EQ(mistakes_of(".engine sync\n halt code={0 && 4 / 0}\n"), "");
    EXPECT_EQ(mistakes_of(".engine sync\n halt code={1 || 4 % 0}\n"), "");
    EXPECT_EQ(mistakes_of(".engine sync\n halt code={0 ? 1 << 64 : 1}\n"), "");
    EXPECT_THAT(mistakes_of(".engine sync\n halt code={1 && 4 / 0}\n"),
                HasSubstr("division by zero"));
    EXPECT_THAT(mistakes_of(".engine sync\n halt code={1 ? 4 / 0 : 2}\n"),
                HasSubstr("division by zero"));
}

TEST(Directives, LongChainsOfConditionsAreRefused) {
    std::string chain = "1";
    for (int n = 0; n < 100'000; ++n) chain += "?1:1";
    EXPECT_THAT(mistakes_of(".engine sync\n halt code={" + chain + "}\n"),
                HasSubstr("the expression nests too deep"));
}

TEST(Directives, MistakesInExpandedLinesPointAtTheLineAndColumnThatTheUserWrote) {
    EXPECT_THAT(mistakes_of(".engine sync\n.repeat i 2\n  delay cycles={i * 2} cycle=1\n.end\n"),
                HasSubstr("text:3:24: E11 delay has no 'cycle'"));
    EXPECT_THAT(mistakes_of(".engine sync\n halt code={count}\n.set cuont 1\n"),
                HasSubstr("text:2:13: E15 'count' has no value here"));
    EXPECT_THAT(mistakes_of(".set count 1\n.engine sync\n halt code={cuont}\n"),
                HasSubstr("did you mean 'count'"));
    EXPECT_THAT(mistakes_of(".repeat i 3\nnop\n"), HasSubstr("text:1:1: E08 .repeat without .end"));
    EXPECT_THAT(mistakes_of(".end\n"), HasSubstr("text:1:1: E08 .end without .repeat or .if"));
    EXPECT_THAT(mistakes_of(".set x 1 / 0\n"), HasSubstr("division by zero"));
    EXPECT_THAT(mistakes_of(".repeat i 1048577\n.end\n"), HasSubstr("E22 repeated 1048577 times"));
    EXPECT_THAT(mistakes_of(".repeat i 1024\n.repeat j 1024\n.repeat k 1024\n.end\n.end\n.end\n"),
                HasSubstr("E22 expanded, the text has more than"));
}

TEST(Directives, ATransferOfASliceHasTheStridesOfItsTensor) {
    const auto set = of(R"(
.tensor w bf16 [4, 128, 64] in
.transfer slice w[2, 0:128, 16:48] -> sbuf[0:128, 256] queue=5 S[9]
.transfer blocks w[1:4, 0:64, 0:64] -> core1.sbuf[64:128, 0, 512] rows=1 engines=0x0f core1.S[3]
.transfer whole w -> sbuf[5:6, 0]
)");
    const transfer& slice = set.transfers.at(0);
    EXPECT_EQ(slice.rows, 128u);
    EXPECT_EQ(slice.blocks, 1u);
    EXPECT_EQ(slice.bytes, 64u);
    EXPECT_EQ(slice.sides[0].offset, 2u * 128 * 64 * 2 + 16 * 2);
    EXPECT_EQ(slice.sides[0].row, 128u);
    EXPECT_EQ(slice.sides[1].offset, 256u);
    EXPECT_EQ(slice.queue, 5u);
    EXPECT_EQ(slice.semaphore, 9);
    const transfer& blocks = set.transfers.at(1);
    EXPECT_EQ(blocks.rows, 64u);
    EXPECT_EQ(blocks.blocks, 3u);
    EXPECT_EQ(blocks.bytes, 128u);
    EXPECT_EQ(blocks.sides[0].block, 128u * 64 * 2);
    EXPECT_EQ(blocks.sides[1].object, 1u);
    EXPECT_EQ(blocks.sides[1].row, 64u);
    EXPECT_EQ(blocks.sides[1].block, 512u);
    EXPECT_EQ(blocks.semaphore_core, 1u);
    EXPECT_EQ(set.cores, 2u);
    const transfer& whole = set.transfers.at(2);
    EXPECT_EQ(whole.rows, 1u);
    EXPECT_EQ(whole.bytes, 4u * 128 * 64 * 2);
    EXPECT_THAT(set.semaphores, ElementsAre(ElementsAre(0, 9), ElementsAre(1, 3)));
}

TEST(Directives, ContiguousPartsOfTensorsAreSharedByTheEngines) {
    const auto set = of(R"(
.tensor x uint8 [4096] in
.tensor y uint8 [8192] out
.transfer even x -> y[4096:8192]
.transfer odd x[0:4095] -> y[1:4096] engines=0xf
)");
    EXPECT_EQ(set.transfers.at(0).rows, 16u);
    EXPECT_EQ(set.transfers.at(0).bytes, 256u);
    EXPECT_EQ(set.transfers.at(0).sides[0].row, 256u);
    EXPECT_EQ(set.transfers.at(0).sides[1].offset, 4096u);
    EXPECT_EQ(set.transfers.at(1).rows, 1u);
    EXPECT_EQ(set.transfers.at(1).bytes, 4095u);
}

TEST(Directives, DmaStartOfATransferRingsEachEngineForItsShareAndItsSemaphore) {
    const auto named = of(R"(
.tensor x uint8 [100, 10] in
.transfer all x -> sbuf[0:100, 0] queue=2 S[1]
.transfer quiet x -> sbuf[0:100, 0] queue=3
.engine sync
    dma_start all
    dma_start quiet
)");
    // 100 rows over 16 engines: 6 each, and 7 for engines 3, 7, 11 and 15.
    const auto counted =
        of(".engine sync\n"
           "dma_start engines=0x7777 queue=2 m2s=7 s2m=7 engines=0x8888 queue=2 "
           "m2s=8 s2m=8\n"
           "dma_start engines=0x7777 queue=3 m2s=6 s2m=6 engines=0x8888 queue=3 "
           "m2s=7 s2m=7\n");
    EXPECT_EQ(named.streams.at(0).words, counted.streams.at(0).words);
}

TEST(Directives, AddressesByNameBecomeRelocations) {
    const auto set = of(R"(
.tensor x fp32 [4] in
.engine gpsimd
    nop
    write @x+8.4=1 @core1.S[5].4=2 0x10.4=3
    dma_gather imm=64 dst=sbuf[0:16, 0] fp32 [16:1] b=sbuf[0:16, 128] int32 [1:1] s0=i32(4) table=@x
.engine sync
    dge_copy engines=1 queue=1 semaphore=2 piece=64 source=@x + R3*64 [8:1] destination=@sbuf+64 [8:1]
)");
    using target = relocation::target;
    EXPECT_THAT(set.relocations, ElementsAre(relocation{0, 1, 16, target::tensor, 0, 0, 8},
                                             relocation{0, 1, 32, target::increment, 1, 5, 0},
                                             relocation{0, 3, 56, target::tensor, 0, 0, 0},
                                             relocation{1, 0, 24, target::tensor, 0, 0, 0},
                                             relocation{1, 1, 0, target::sbuf, 0, 0, 64}));
}

TEST(Directives, TransfersThatCannotBeAreRefusedWithTheirPlace) {
    const std::string x = ".tensor x fp32 [128, 16] in\n";
    EXPECT_THAT(mistakes_of(x + ".transfer a x -> sbuf[0:64, 0]\n"),
                HasSubstr("text:2:13: E22 128 rows go to 64 rows"));
    EXPECT_THAT(mistakes_of(x + ".transfer a y -> sbuf[0:128, 0]\n"),
                HasSubstr("text:2:13: E15 no tensor 'y' is declared above"));
    EXPECT_THAT(mistakes_of(x + ".transfer a x[0:129, 0:1] -> sbuf[0:128, 0]\n"),
                HasSubstr("text:2:17: E22 expected 1 to 128"));
    EXPECT_THAT(mistakes_of(x + ".transfer a x -> sbuf[0:128, 0] queue=13\n"),
                HasSubstr("E22 expected 0 to 12"));
    EXPECT_THAT(mistakes_of(".transfer a sbuf[0:1, 0] -> sbuf[0:1, 8]\n"),
                HasSubstr("bytes= says how many"));
    EXPECT_THAT(mistakes_of(".tensor sbuf fp32 [1] in\n"),
                HasSubstr("E27 'sbuf' has a meaning of its own here"));
}

TEST(Directives, TransfersAreStartedOnceAndInTheOrderOfTheirRing) {
    const std::string two =
        ".tensor x fp32 [128, 16] in\n.transfer a x -> sbuf[0:128, 0]\n"
        ".transfer b x -> sbuf[0:128, 64]\n.engine sync\n";
    EXPECT_EQ(mistakes_of(two + "dma_start a\ndma_start b\n"), "");
    EXPECT_THAT(mistakes_of(two + "dma_start a\ndma_start a\n"),
                HasSubstr("text:6:1: E54 'a' is started again"));
    EXPECT_THAT(mistakes_of(two + "dma_start b\ndma_start a\n"),
                HasSubstr("text:5:1: E54 'b' is started before 'a', which is declared before it"));
    EXPECT_EQ(mistakes_of(two + "dma_start a\n"), "") << "the rest of the ring is not started";
    EXPECT_THAT(mistakes_of(two + "dma_start a\n.engine vector\ndma_start b\n"),
                HasSubstr("queue 0 is used by sync already"));
    EXPECT_THAT(mistakes_of(two + "dma_start aa\n"), HasSubstr("did you mean 'a'"));
}

TEST(Directives, ATransferIsNotStartedBeforeOneDeclaredEarlierOnItsQueue) {
    const std::string three =
        ".tensor x fp32 [128, 16] in\n.transfer a x -> sbuf[0:128, 0] queue=2\n"
        ".transfer b x -> sbuf[0:128, 64] queue=2\n"
        ".transfer c x -> sbuf[0:128, 128] queue=2\n.engine sync\n";
    EXPECT_THAT(mistakes_of(three + "dma_start b\n"),
                HasSubstr("text:6:1: E54 'b' is started before 'a', which is declared before it on "
                          "queue 2"));
    EXPECT_THAT(mistakes_of(three + "dma_start a\ndma_start c\n"),
                HasSubstr("'c' is started before 'b'"));
}

TEST(Directives, TransfersOfDifferentDmaEnginesStartInAnyOrder) {
    const std::string two =
        ".tensor x fp32 [128, 16] in\n.transfer a x -> sbuf[0:128, 0] engines=0xff\n"
        ".transfer b x -> sbuf[0:128, 64] engines=0xff00\n"
        ".transfer c x -> sbuf[0:128, 128]\n.engine sync\n";
    EXPECT_EQ(mistakes_of(two + "dma_start b\n"), "");
    EXPECT_EQ(mistakes_of(two + "dma_start b\ndma_start a\ndma_start c\n"), "");
    EXPECT_EQ(mistakes_of(two + "dma_start b\n.engine vector\ndma_start a\n"), "");
    EXPECT_THAT(mistakes_of(two + "dma_start b\ndma_start c\n"),
                HasSubstr("'c' is started before 'a'"));
}

TEST(Directives, TransfersAreNotStartedInLoops) {
    const std::string one =
        ".tensor x fp32 [128, 16] in\n.transfer a x -> sbuf[0:128, 0]\n.engine sync\n";
    EXPECT_THAT(mistakes_of(one + "again: dma_start a\nloop rd=R1 step=1 imm=2 target=again\n"),
                HasSubstr("text:4:8: E54 'a' is started in a loop"));
    EXPECT_THAT(mistakes_of(one + "dma_start a\nnop\nbranch if=always target=-2\n"),
                HasSubstr("text:4:1: E54 'a' is started in a loop"));
    EXPECT_EQ(mistakes_of(one + "dma_start a\nagain: nop\nloop rd=R1 step=1 imm=2 target=again\n"),
              "");
    EXPECT_EQ(mistakes_of(one + "branch if=always target=over\nover: dma_start a\n"), "");
    // The last word is a branch that claims a second word.
    const auto header = static_cast<unsigned>(opcode::branch) | unsigned{flag::long_form} << 16;
    std::string last = ".word " + std::to_string(header);
    for (int n = 1; n < 16; ++n) last += " 0";
    EXPECT_EQ(mistakes_of(one + "dma_start a\n" + last + "\n"), "");
}

TEST(Directives, EventsOfATextStartClear) {
    const auto named =
        of(".engine sync\nwait E[3]==1 update S[3]+=1 nop\n"
           "event_semaphore wait E[4]==0 update E[5]=1\nupdate E[6]=0:at_issue nop\n");
    EXPECT_THAT(named.semaphores,
                ElementsAre(sync_index{0, 3}, sync_index{0, 256 + 3}, sync_index{0, 256 + 4},
                            sync_index{0, 256 + 5}, sync_index{0, 256 + 6}));
    const auto given =
        of(".cores 2\n.semaphores S[1] core1.E[255]\n.engine sync\nwait E[3]==1 nop\n");
    EXPECT_THAT(given.semaphores, ElementsAre(sync_index{0, 1}, sync_index{1, 511}));
    const auto back = read_program_set(write_program_set(given));
    EXPECT_EQ(back.semaphores, given.semaphores);
    EXPECT_THAT(disassemble(back), HasSubstr(".semaphores S[1] core1.E[255]\n"));
}

TEST(Directives, OptionsAreGivenOnce) {
    const std::string x = ".tensor x fp32 [128, 16] in\n";
    EXPECT_THAT(mistakes_of(x + ".transfer a x -> sbuf[0:128, 0] queue=1 queue=2\n"),
                HasSubstr("text:2:41: E07 'queue' is given twice"));
    EXPECT_THAT(mistakes_of(x + ".transfer a x -> sbuf[0:128, 0] S[4] core1.S[5]\n"),
                HasSubstr("text:2:38: E07 'S[n]' is given twice"));
    EXPECT_THAT(mistakes_of(".tensor x fp32 [1] in align=64 align=128\n"),
                HasSubstr("text:1:32: E07 'align' is given twice"));
}

TEST(Directives, SourceLinesNameTheFileThatTheTextWasMadeFrom) {
    const auto set = of(R"(
.engine sync
    nop
.source 7 "kernel.py"
    nop
.source 9 "text"
    nop
.engine vector
    halt
)");
    EXPECT_THAT(set.files, ElementsAre("text", "kernel.py"));
    EXPECT_THAT(set.streams.at(0).lines, ElementsAre(3, 7, 9));
    EXPECT_THAT(set.streams.at(0).files, ElementsAre(0, 1, 0));
    EXPECT_THAT(set.streams.at(1).lines, ElementsAre(9));
    EXPECT_THAT(mistakes_of(".source 0 \"a\"\n"), HasSubstr("expected 1 to 16777215"));
    EXPECT_THAT(mistakes_of(".source 1 a\n"), HasSubstr("expected the name of a file in quotes"));
}

TEST(Directives, ErrorsHaveTheSourceLineOfTheirLine) {
    const auto errors = [] {
        try {
            assemble_set(
                ".engine sync\n.source 7 \"k.py\"\nbranch target=nowhere\n.source 9 "
                "\"k.py\"\nhalt cod=1\n.engine vector\nhalt cod=1\n",
                "text");
        } catch (const config_error& error) {
            return error.list();
        }
        return std::vector<diagnostic>{};
    }();
    ASSERT_EQ(errors.size(), 3u);
    EXPECT_EQ(errors[0].origin_file, "k.py");
    EXPECT_EQ(errors[0].origin_line, 7);
    EXPECT_EQ(errors[1].origin_line, 9);
    EXPECT_EQ(errors[2].origin_line, 0) << "another stream";
}

TEST(Directives, TensorsBelongToTheCoreOfTheirPlace) {
    const auto set =
        of(".cores 2\n.tensor a fp32 [4] in\n.core 1\n.tensor b fp32 [4] in\n"
           ".core 0\n.tensor c fp32 [4] in\n.engine sync\nhalt\n");
    std::vector<unsigned> cores;
    for (const auto& each : set.tensors) cores.push_back(each.core);
    EXPECT_THAT(cores, ElementsAre(0u, 1u, 0u));
}

TEST(Directives, QueuesOfCollectivesThatTheProgramStartsAreRefused) {
    const std::string_view text = R"(
.tensor x fp32 [128, 512] in
.transfer load x -> sbuf[0:128, 0] queue=3 S[1]
.transfer next x -> sbuf[0:128, 0] queue=4 S[1]
.repeat n 2
.transfer more{n} x -> sbuf[0:128, 0] queue={6 + n} S[1]
.end
.core 1
.transfer other x -> sbuf[0:128, 0] queue=5 S[1]
.core 0
.engine sync
    dma_start engines=1 queue=5 m2s=1 s2m=1
    write @cc[0]+0x2010.4=0x100
    halt
)";
    const auto wrong = mistakes_of(text);
    EXPECT_THAT(wrong, HasSubstr("text:4:42: E54 queue 4 is of collectives, which line 13 starts "
                                 "on core 0: take 0 to 3 or 8 to 12\n"
                                 ".transfer next x -> sbuf[0:128, 0] queue=4 S[1]\n"
                                 "                                         ^"));
    EXPECT_THAT(wrong, HasSubstr("text:6:"));
    EXPECT_THAT(wrong, HasSubstr("queue 7 is of collectives"));
    EXPECT_THAT(wrong, HasSubstr("text:12:31: E54 queue 5 is"));
    EXPECT_THAT(wrong, Not(HasSubstr("text:3:"))) << "not a queue of collectives";
    EXPECT_THAT(wrong, Not(HasSubstr("text:9:"))) << "of a core without collectives";
}

TEST(Directives, QueuesOfCollectivesAreFreeWithoutCollectives) {
    EXPECT_EQ(mistakes_of(R"(
.tensor x fp32 [128, 512] in
.transfer load x -> sbuf[0:128, 0] queue=4 S[1]
.engine sync
    dma_start load
    halt
)"),
              "");
}

}  // namespace

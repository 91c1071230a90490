// SPDX-License-Identifier: Apache-2.0
// Control instructions: doc/spec/neuron-core.md 8.1, 5.3, 6.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <array>

#include "tests/unit/neuron_core/sequencer/engine_test.h"

namespace {

using namespace trn;
using testing::ElementsAre;
using testing::HasSubstr;

class ControlInstructions : public test::engine_test {};

constexpr std::uint8_t notify_kind = 1, event_kind = 2, trace_kind = 0;

TEST_F(ControlInstructions, HaltEndsTheProgramKeepsThePcAndNotifiesItsCode) {
    run(Y, "nop\nhalt code=77");
    EXPECT_EQ(state_of(Y), halted);
    EXPECT_EQ(get(control::pc, Y), 1u);
    EXPECT_EQ(get(control::retired, Y), 2u);
    EXPECT_THAT(entries(5 + 4), ElementsAre(entry{notify_kind, 4, 77}));
}

TEST_F(ControlInstructions, NopOnlyWaitsAndUpdates) {
    load(Y, "wait S[4]>=2 update S[8]+=3 nop\nhalt");
    start(Y);
    run_for(1);
    EXPECT_EQ(state_of(Y), waiting);
    EXPECT_EQ(sequencer_regs::status::semaphore.get(get(control::status, Y)), 4u);
    EXPECT_EQ(get(control::wait_value, Y), 2u);
    core.sync().set(4, 2);
    run_for(1);
    EXPECT_EQ(state_of(Y), halted);
    EXPECT_EQ(semaphore(8), 3);
}

TEST_F(ControlInstructions, AWaitingEngineIssues30NanosecondsAfterTheUpdate) {
    load(Y, "wait S[4]>=1 reg_load rd=R1 type=uint32 address=0x100\nhalt");
    start(Y);
    run_for(1);
    core.sync().set(4, 1);
    run_for(0.029);
    EXPECT_EQ(get(control::pc, Y), 0u);
    run_for(0.002);
    EXPECT_EQ(get(control::pc, Y), 1u);
}

TEST_F(ControlInstructions, EachWaitModeComparesAsItsNameSays) {
    struct row {
        const char* condition;
        int value;
        bool met;
    };
    const row rows[] = {{"S[1]>=5", 5, true},   {"S[1]>=5", 4, false}, {"S[1]==5", 5, true},
                        {"S[1]==5", 6, false},  {"S[1]<=5", 5, true},  {"S[1]<=5", 6, false},
                        {"S[1]!=5", 4, true},   {"S[1]!=5", 5, false}, {"S[1]>=-2", -2, true},
                        {"S[1]>=-2", -3, false}};
    for (const row& r : rows) {
        core.sync().set(1, r.value);
        run(Y, "wait " + std::string(r.condition) + " nop\nhalt");
        EXPECT_EQ(state_of(Y), r.met ? halted : waiting) << r.condition << " " << r.value;
        set(control::control, Y, sequencer_regs::control::reset.mask());
    }
}

TEST_F(ControlInstructions, WaitsForEventsSetAndClear) {
    load(Y, "wait E[3]==1 nop\nwait E[3]==0 nop\nhalt");
    start(Y);
    run_for(1);
    EXPECT_EQ(get(control::pc, Y), 0u);
    core.sync().set_event(3, 1);
    run_for(1);
    EXPECT_EQ(get(control::pc, Y), 1u);
    core.sync().set_event(3, 0);
    run_for(1);
    EXPECT_EQ(state_of(Y), halted);
}

TEST_F(ControlInstructions, AWaitCanSubtractItsValue) {
    core.sync().set(1, 20);
    run(Y, "wait S[1]>=16:subtract nop\nhalt");
    EXPECT_EQ(state_of(Y), halted);
    EXPECT_EQ(semaphore(1), 4);
}

TEST_F(ControlInstructions, UpdatesAddSubtractSetAndChangeEvents) {
    core.sync().set_event(6, 1);
    run(Y,
        "update S[1]+=5 nop\nupdate S[2]-=5 nop\nupdate S[3]=-9 nop\n"
        "update E[5]=1 nop\nupdate E[6]=0 nop\nupdate S[7]+=1:at_issue nop\nhalt");
    EXPECT_EQ(semaphore(1), 5);
    EXPECT_EQ(semaphore(2), -5);
    EXPECT_EQ(semaphore(3), -9);
    EXPECT_EQ(event(5), 1u);
    EXPECT_EQ(event(6), 0u);
    EXPECT_EQ(semaphore(7), 1);
    EXPECT_THAT(entries(15),
                ElementsAre(entry{event_kind, 4, 5 | 1u << 8}, entry{event_kind, 4, 6}));
}

TEST_F(ControlInstructions, WaitAndUpdateValuesCanComeFromRegisters) {
    core.sync().set(1, 3);
    run(Y,
        "reg_move rd=R5 imm=3\nreg_move rd=R6 imm=40\n"
        "wait S[1]>=R5 update S[2]+=R6 nop\nhalt");
    EXPECT_EQ(state_of(Y), halted);
    EXPECT_EQ(semaphore(2), 40);
}

TEST_F(ControlInstructions, EventSemaphoreWaitsForAllItsConditionsThenUpdates) {
    load(Y, "event_semaphore wait S[1]>=1 update S[3]+=7 wait E[2]==1 update E[4]=1\nhalt");
    start(Y);
    run_for(1);
    core.sync().set(1, 1);
    run_for(1);
    EXPECT_EQ(state_of(Y), waiting);
    EXPECT_EQ(semaphore(3), 0);
    core.sync().set_event(2, 1);
    run_for(1);
    EXPECT_EQ(state_of(Y), halted);
    EXPECT_EQ(semaphore(3), 7);
    EXPECT_EQ(event(4), 1u);
}

TEST_F(ControlInstructions, DrainWaitsForTheInstructionsBefore) {
    // COPY of 4,096 FP32 on Vector: interval 4,096, latency 4,206 cycles of 1.2 GHz.
    load(V,
         "copy dst=sbuf[0:1, 16384] fp32 [4096:1] a=sbuf[0:1, 0] fp32 [4096:1]\n"
         "drain\nreg_move rd=R1 imm=1\nhalt");
    start(V);
    run_for(3.45);
    EXPECT_EQ(reg(V, 1), 0u);
    run_for(0.2);
    EXPECT_EQ(reg(V, 1), 1u);
}

TEST_F(ControlInstructions, WritePostsItsWordsInOrderWithRegistersZeroExtended) {
    run(Y,
        "reg_move rd=R2 imm=-1\n"
        "write 0x200.4=0x11223344 0x210.8=R2 0x221.1=0xab\nhalt");
    std::uint64_t wide = 0;
    std::memcpy(&wide, ram.bytes().data() + 0x210, 8);
    EXPECT_EQ(*reinterpret_cast<std::uint32_t*>(ram.bytes().data() + 0x200), 0x11223344u);
    EXPECT_EQ(wide, 0xffff'ffffull);
    EXPECT_EQ(ram.bytes().data()[0x221], 0xab);
    EXPECT_EQ(state_of(Y), halted);
}

TEST_F(ControlInstructions, NotifySendsItsPayloadOrARegister) {
    run(Y, "reg_move rd=R9 imm=1234\nnotify payload=55\nnotify ra=R9\nhalt");
    EXPECT_THAT(entries(9), ElementsAre(entry{notify_kind, 4, 55}, entry{notify_kind, 4, 1234},
                                        entry{notify_kind, 4, 0}));
}

TEST_F(ControlInstructions, TheNotifyFlagSendsThePc) {
    run(Y, "nop\n@notify nop\nhalt code=9");
    EXPECT_THAT(entries(9), ElementsAre(entry{notify_kind, 4, 1}, entry{notify_kind, 4, 9}));
}

TEST_F(ControlInstructions, RegMoveTakesARegisterOrAnImmediate) {
    run(Y, "reg_move rd=R1 imm=-5\nreg_move rd=R2 ra=R1\nhalt");
    EXPECT_EQ(reg(Y, 1), 0xffff'fffbu);
    EXPECT_EQ(reg(Y, 2), 0xffff'fffbu);
}

TEST_F(ControlInstructions, RegAluComputesSigned32BitIntegersModulo2To32) {
    struct row {
        const char* op;
        std::int32_t a, b;
        std::uint32_t result;
    };
    const row rows[] = {{"add", 0x7fffffff, 1, 0x80000000},
                        {"subtract", 3, 5, 0xfffffffe},
                        {"mult", 0x10000, 0x10001, 0x10000},
                        {"max", -1, 1, 1},
                        {"min", -1, 1, 0xffffffff},
                        {"is_equal", 4, 4, 1},
                        {"not_equal", 4, 4, 0},
                        {"is_ge", -1, 0, 0},
                        {"is_gt", 1, 0, 1},
                        {"is_le", 0, 0, 1},
                        {"is_lt", -1, 0, 1},
                        {"bitwise_and", 12, 10, 8},
                        {"bitwise_or", 12, 10, 14},
                        {"bitwise_xor", 12, 10, 6},
                        {"bitwise_not", 0, 0, 0xffffffff},
                        {"shift_left", 1, 31, 0x80000000},
                        {"shift_left", 1, 32, 0},
                        {"shift_right", -1, 28, 15},
                        {"shift_right", -1, -1, 0},
                        {"shift_right_arithmetic", -8, 1, 0xfffffffc},
                        {"shift_right_arithmetic", -8, 40, 0xffffffff},
                        {"shift_right_arithmetic", 8, 40, 0}};
    for (const row& r : rows) {
        run(Y,
            fmt::format("reg_move rd=R1 imm={}\nreg_move rd=R2 imm={}\n"
                        "reg_alu op={} rd=R3 ra=R1 rb=R2\nreg_alu op={} rd=R4 ra=R1 imm={}\nhalt",
                        r.a, r.b, r.op, r.op, r.b));
        EXPECT_EQ(reg(Y, 3), r.result) << r.op;
        EXPECT_EQ(reg(Y, 4), r.result) << r.op;
    }
}

TEST_F(ControlInstructions, RegLoadConvertsToIntegersAndKeepsFp32Bits) {
    const std::uint32_t word = 0xc000fff0;  // as FP32 about -2.0156
    std::memcpy(ram.bytes().data() + 0x300, &word, 4);
    sbuf_float(5, 64) = 1.5f;
    core.psum().data()[8] = 0x80;
    run(Y,
        "reg_load rd=R1 type=int8 address=0x300\nreg_load rd=R2 type=uint16 address=0x300\n"
        "reg_load rd=R3 type=int16 address=0x300\nreg_load rd=R4 type=fp32 address=0x300\n"
        "reg_load rd=R5 type=bf16 address=0x302\nreg_load rd=R6 type=fp32 where=sbuf[5, 64]\n"
        "reg_load rd=R7 type=uint8 where=psum[0, 8]\nhalt");
    EXPECT_EQ(reg(Y, 1), 0xffff'fff0u);
    EXPECT_EQ(reg(Y, 2), 0xfff0u);
    EXPECT_EQ(reg(Y, 3), 0xffff'fff0u);
    EXPECT_EQ(reg(Y, 4), word);
    EXPECT_EQ(reg(Y, 5), 0xc000'0000u);
    EXPECT_EQ(reg(Y, 6), std::bit_cast<std::uint32_t>(1.5f));
    EXPECT_EQ(reg(Y, 7), 0x80u);
}

TEST_F(ControlInstructions, RegStoreTakesLowBitsOrConvertsFp32Bits) {
    run(Y, fmt::format("reg_move rd=R1 imm=0x12345678\nreg_move rd=R2 imm={}\n"
                       "reg_store ra=R1 type=uint8 address=0x400\n"
                       "reg_store ra=R2 type=bf16 address=0x402\n"
                       "reg_store ra=R2 type=fp32 where=sbuf[7, 32]\nhalt",
                       std::bit_cast<std::uint32_t>(-3.0f)));
    EXPECT_EQ(state_of(Y), halted);
    EXPECT_EQ(ram.bytes().data()[0x400], 0x78);
    EXPECT_EQ(ram.bytes().data()[0x401], 0);
    EXPECT_EQ(ram.bytes().data()[0x402], 0x40);
    EXPECT_EQ(ram.bytes().data()[0x403], 0xc0);
    EXPECT_EQ(sbuf_float(7, 32), -3.0f);
}

TEST_F(ControlInstructions, RegStoreFollowsFpConfigAndWritesCanonicalNans) {
    namespace fp = sequencer_regs::fp_config;
    const auto stored = [&](std::uint32_t value, std::string_view type) {
        run(Y, fmt::format("reg_move rd=R1 imm={}\nreg_store ra=R1 type={} address=0x400\nhalt",
                           value, type));
        EXPECT_EQ(state_of(Y), halted);
        std::uint32_t word;
        std::memcpy(&word, ram.bytes().data() + 0x400, sizeof word);
        return word;
    };
    const auto million = std::bit_cast<std::uint32_t>(1e6f);
    EXPECT_EQ(stored(million, "fp16") & 0xffff, 0x7c00u);
    EXPECT_EQ(stored(0xffa1'2345, "fp32"), 0x7fc0'0000u);
    EXPECT_EQ(stored(0xffa1'2345, "int32"), 0xffa1'2345u);
    EXPECT_EQ(stored(0xffa1'2345, "bf16") & 0xffff, 0x7fc0u);

    set(control::fp_config, Y, static_cast<std::uint32_t>(fp::saturate.mask()));
    EXPECT_EQ(stored(million, "fp16") & 0xffff, 0x7bffu);

    // Between 1 and the next BF16 number: rounded up sometimes.
    set(control::fp_config, Y, static_cast<std::uint32_t>(fp::stochastic.mask()));
    unsigned up = 0;
    for (std::uint32_t seed = 0; seed < 64; ++seed) {
        set(control::seed, Y, seed);
        up += (stored(0x3f80'4000, "bf16") & 0xffff) == 0x3f81;
    }
    EXPECT_GT(up, 4u);
    EXPECT_LT(up, 32u);
}

TEST_F(ControlInstructions, RegStoreReportsANanThatItWrites) {
    namespace fp = sequencer_regs::fp_config;
    constexpr std::uint8_t error_kind = 3;
    set(control::fp_config, Y, static_cast<std::uint32_t>(fp::nan_detect.mask()));
    run(Y,
        "reg_move rd=R1 imm=0x7fc00000\nreg_store ra=R1 type=uint32 address=0x400\n"
        "reg_store ra=R1 type=fp16 where=sbuf[3, 0]\nhalt");
    EXPECT_EQ(state_of(Y), halted);
    EXPECT_THAT(entries(4), ElementsAre(entry{error_kind, 4, 2u << 8 | 9}));
}

TEST_F(ControlInstructions, BranchComparesSignedAndCountsWordsFromItself) {
    struct row {
        const char* condition;
        bool less, equal, greater;
    };
    const row rows[] = {{"lt", true, false, false}, {"le", true, true, false},
                        {"eq", false, true, false}, {"ne", true, false, true},
                        {"ge", false, true, true},  {"gt", false, false, true}};
    for (const row& r : rows)
        for (const auto& [value, taken] : {std::pair{-4, r.less}, {3, r.equal}, {9, r.greater}}) {
            run(Y, fmt::format("reg_move rd=R1 imm={}\nreg_move rd=R2 imm=3\n"
                               "branch if={} ra=R1 rb=R2 target=yes\nhalt code=0\nyes: halt code=1",
                               value, r.condition));
            EXPECT_EQ(get(control::pc, Y), taken ? 4u : 3u) << r.condition << " " << value;
        }
    run(Y, "branch target=2\nhalt\nhalt");
    EXPECT_EQ(get(control::pc, Y), 2u);
}

TEST_F(ControlInstructions, LoopStepsUntilItsLimit) {
    run(Y, "again: reg_alu op=add rd=R2 ra=R2 imm=1\nloop rd=R1 step=3 imm=10 target=again\nhalt");
    EXPECT_EQ(reg(Y, 1), 12u);
    EXPECT_EQ(reg(Y, 2), 4u);
}

TEST_F(ControlInstructions, CallAndReturnUseARegister) {
    run(Y,
        "call rd=R10 target=f\nreg_move rd=R2 imm=2\nhalt\nf: reg_move rd=R1 imm=1\nreturn ra=R10");
    EXPECT_EQ(state_of(Y), halted);
    EXPECT_EQ(reg(Y, 10), 1u);
    EXPECT_EQ(reg(Y, 1), 1u);
    EXPECT_EQ(reg(Y, 2), 2u);
    EXPECT_EQ(get(control::pc, Y), 2u);
}

TEST_F(ControlInstructions, AChangedProgramIsSeenAfterFlushOnly) {
    // The program changes the immediate of its word 2, or of word 4 after a flush.
    const auto target = program_at(Y);
    run(Y, fmt::format("write {:#x}.4=5 {:#x}.4=5\nnop\nreg_move rd=R1 imm=1\nflush\n"
                       "reg_move rd=R2 imm=1\nhalt",
                       target + 2 * 64 + 24, target + 4 * 64 + 24));
    EXPECT_EQ(reg(Y, 1), 1u);
    EXPECT_EQ(reg(Y, 2), 5u);
}

TEST_F(ControlInstructions, DelayTakesItsCycles) {
    load(Y, "delay cycles=1200\n@notify nop\nhalt");  // 1,200 cycles of 1.2 GHz
    start(Y);
    run_for(0.99);
    EXPECT_NE(state_of(Y), halted);
    run_for(0.1);
    EXPECT_EQ(state_of(Y), halted);
}

TEST_F(ControlInstructions, AControlInstructionTakes16Cycles) {
    std::string text;
    for (int n = 0; n < 60; ++n) text += "update S[1]+=1 nop\n";
    load(Y, text + "halt");
    start(Y);
    run_for(0.4001);  // 480 cycles of 1.2 GHz, 30 instructions
    EXPECT_NEAR(semaphore(1), 30, 1);
}

class NumberedCore : public test::engine_test {
protected:
    NumberedCore() : engine_test({.number = 5, .chip = 9}) {}
};

TEST_F(NumberedCore, RankReadsWhereAndWhenTheProgramRuns) {
    run_for(2000);
    run(Y,
        "rank rd=R1 what=core_in_chip\nrank rd=R2 what=core_in_pair\nrank rd=R3 what=chip\n"
        "rank rd=R4 what=generation\nrank rd=R5 what=ns_low\nrank rd=R6 what=ns_high\nhalt");
    EXPECT_EQ(reg(Y, 1), 5u);
    EXPECT_EQ(reg(Y, 2), 1u);
    EXPECT_EQ(reg(Y, 3), 9u);
    EXPECT_EQ(reg(Y, 4), 4u);
    EXPECT_NEAR(reg(Y, 5), 2'000'000, 1000);
    EXPECT_EQ(reg(Y, 6), 0u);
}

class CoreWithRings : public test::engine_test {
protected:
    // Registers of "DMA engines" are plain memory, 0x40 bytes apart.
    CoreWithRings() : engine_test({.dma_base = 0x80000, .dma_stride = 0x40}) {}
};

TEST_F(CoreWithRings, DmaStartRingsTheDoorbellsOfEachEngineInItsMask) {
    run(Y, "dma_start engines=0x5 queue=2 m2s=7 s2m=9\nhalt");
    const auto word = [&](std::uint64_t offset) {
        return *reinterpret_cast<std::uint32_t*>(ram.bytes().data() + 0x80000 + offset);
    };
    EXPECT_EQ(word(0x3038), 7u);
    EXPECT_EQ(word(0x3038 + 2 * 0x40), 7u);
    EXPECT_EQ(word(0x3038 + 0x40), 0u);
    EXPECT_EQ(word(0x23038), 9u);
    EXPECT_EQ(word(0x23038 + 2 * 0x40), 9u);
    EXPECT_EQ(state_of(Y), halted);
}

TEST_F(ControlInstructions, StopEndsAfterTheRunningInstructionAndContinueResumes) {
    load(Y, "again: loop rd=R1 step=1 imm=1000000 target=again\nhalt");
    start(Y);
    run_for(10);
    set(control::control, Y, sequencer_regs::control::stop.mask());
    run_for(10);
    EXPECT_EQ(state_of(Y), stopped);
    const std::uint32_t reached = reg(Y, 1);
    EXPECT_GT(reached, 500u);
    run_for(10);
    EXPECT_EQ(reg(Y, 1), reached);
    set(control::control, Y, sequencer_regs::control::continue_.mask());
    run_for(10);
    EXPECT_GT(reg(Y, 1), reached);
    EXPECT_EQ(state_of(Y), running);
}

TEST_F(ControlInstructions, StepRunsOneInstruction) {
    load(Y, "reg_move rd=R1 imm=1\nreg_move rd=R2 imm=2\nhalt");
    for (unsigned n = 1; n <= 2; ++n) {
        set(control::control, Y, sequencer_regs::control::step.mask());
        run_for(10);
        EXPECT_EQ(state_of(Y), stopped);
        EXPECT_EQ(error_of(Y), 12u);
        EXPECT_EQ(get(control::pc, Y), n);
    }
    EXPECT_EQ(reg(Y, 2), 2u);
}

TEST_F(ControlInstructions, ABreakpointStopsBeforeTheWaitAndContinuePassesItOnce) {
    load(Y, "again: @break wait S[1]>=1 nop\nbranch target=again");
    start(Y);
    run_for(10);
    EXPECT_EQ(state_of(Y), stopped);
    EXPECT_EQ(error_of(Y), 12u);
    EXPECT_EQ(get(control::pc, Y), 0u);
    core.sync().set(1, 1);
    set(control::control, Y, sequencer_regs::control::continue_.mask());
    run_for(10);
    EXPECT_EQ(state_of(Y), stopped);
    EXPECT_EQ(get(control::retired, Y), 2u);
}

TEST_F(ControlInstructions, AStartStopsAtABreakpointThatAContinueHasPassed) {
    namespace command = sequencer_regs::control;
    load(Y, "@break wait S[1]>=1 nop\nhalt");
    for (const auto resume : {command::continue_.mask(), command::step.mask()}) {
        start(Y);
        run_for(1);
        ASSERT_EQ(error_of(Y), 12u);
        set(control::control, Y, static_cast<std::uint32_t>(resume));
        run_for(1);
        ASSERT_EQ(state_of(Y), waiting);
        set(control::control, Y, command::stop.mask());
        run_for(1);
        ASSERT_EQ(state_of(Y), stopped);
        EXPECT_EQ(error_of(Y), 0u);
        start(Y);
        run_for(1);
        EXPECT_EQ(state_of(Y), stopped);
        EXPECT_EQ(error_of(Y), 12u);
        set(control::control, Y, command::reset.mask());
    }
}

TEST_F(ControlInstructions, TracesShowWaitIssueAndCompletion) {
    load(Y, "wait S[1]>=1 nop\nhalt");
    set(control::notify_config, Y,
        get(control::notify_config, Y) |
            static_cast<std::uint32_t>(sequencer_regs::notify_config::traces.mask()));
    start(Y);
    run_for(1);
    core.sync().set(1, 1);
    run_for(1);
    EXPECT_THAT(entries(10 + 4),
                ElementsAre(entry{trace_kind, 4, 2u << 30}, entry{trace_kind, 4, 0},
                            entry{trace_kind, 4, 1u << 30}, entry{trace_kind, 4, 1},
                            entry{trace_kind, 4, 1u << 30 | 1}));
}

TEST_F(ControlInstructions, ProgramsLongerThanTheBufferRunToTheirEnd) {
    std::string text;
    for (int n = 0; n < 700; ++n) text += "reg_alu op=add rd=R1 ra=R1 imm=1\n";
    run(Y, text + "loop rd=R2 step=1 imm=3 target=-700\nhalt");
    EXPECT_EQ(state_of(Y), halted);
    EXPECT_EQ(reg(Y, 1), 2100u);
}

TEST_F(ControlInstructions, EnginesOrderEachOtherBySemaphores) {
    load(V, "wait S[1]>=1 update S[2]+=1 nop\nhalt");
    load(S, "update S[1]+=1 nop\nwait S[2]>=1 nop\nhalt");
    start(V);
    start(S);
    run_for(10);
    EXPECT_EQ(state_of(V), halted);
    EXPECT_EQ(state_of(S), halted);
}

TEST_F(ControlInstructions, EnginesWhoseCyclesBeginTogetherActInTheOrderOfTheirNumbers) {
    run_for(1000);
    for (const auto& order : {std::array{S, G, V}, std::array{V, G, S}, std::array{G, V, S}}) {
        core.sync().set(1, 0);
        load(S, "update S[1]+=3 nop\nhalt");
        load(G, "update S[1]=5 nop\nhalt");
        load(V, "update S[1]+=1 nop\nhalt");
        for (const engine e : order) start(e);
        run_for(1000);
        EXPECT_EQ(semaphore(1), 6);
    }
}

TEST_F(ControlInstructions, AProgramRunsAlikeAfterAnInterruptedOne) {
    // GPSIMD's update and the Scalar engine's first one are complete at the same time.
    std::array<std::int32_t, 3> found{};
    for (std::int32_t& value : found) {
        reset.set(true);
        reset.set(false);
        load(S, "again: update S[2]+=1 branch if=always target=again");
        load(G, "update S[2]=0 nop\nhalt");
        start(S);
        start(G);
        run_for(20);
        value = semaphore(2);
        run_for(980);
    }
    EXPECT_EQ(found[1], found[0]);
    EXPECT_EQ(found[2], found[0]);
}

TEST_F(ControlInstructions, CoreResetAndPowerLossEndProgramsAndForgetRegisters) {
    for (auto* line : {&reset, &power_lost}) {
        core.sync().set(1, 0);
        load(Y, "reg_move rd=R1 imm=1\nwait S[1]>=1 nop\nhalt");
        start(Y);
        run_for(10);
        EXPECT_EQ(state_of(Y), waiting);
        line->set(true);
        line->set(false);
        EXPECT_EQ(state_of(Y), idle);
        EXPECT_EQ(reg(Y, 1), 0u);
        EXPECT_EQ(get(control::program_words, Y), 0u);
        core.sync().set(1, 1);
        run_for(10);
        EXPECT_EQ(state_of(Y), idle);
    }
}

TEST_F(ControlInstructions, AWaitIsDescribedForTheStallReport) {
    EXPECT_EQ(core.describe_wait(), std::nullopt);
    run(V, "wait S[4]>=16 nop");
    ASSERT_TRUE(core.describe_wait());
    EXPECT_THAT(*core.describe_wait(),
                HasSubstr("vector engine at pc 0: waits for S[4] >= 16, which is 0, "
                          "posted by no program of this core"));
    run(S, "nop\nhalt");
    run(Y, "branch target=end\nevent_semaphore wait S[1]>=1 update S[4]+=16\nend: halt");
    EXPECT_THAT(*core.describe_wait(), HasSubstr("posted by sync at pc 1 (halted at pc 2)"));
}

TEST_F(ControlInstructions, RegistersAreRefusedWhileTheEngineRunsAndNotWhileItWaits) {
    set(control::r, Y, 3, 7);
    EXPECT_EQ(reg(Y, 7), 3u);
    load(Y, "delay cycles=12000\nwait S[1]>=1 nop\nhalt");
    start(Y);
    run_for(1);
    ASSERT_EQ(state_of(Y), running);
    EXPECT_EQ(aperture.write<std::uint32_t>(at(control::r, Y, 7), 4),
              tlm::TLM_COMMAND_ERROR_RESPONSE);
    EXPECT_EQ(reg(Y, 7), 3u);
    run_for(20);
    ASSERT_EQ(state_of(Y), waiting);
    set(control::r, Y, 4, 7);
    EXPECT_EQ(reg(Y, 7), 4u);
}

TEST_F(ControlInstructions, ARegisterWrittenDuringAWaitForItCounts) {
    set(control::r, Y, 5, 7);
    load(Y, "wait S[1]>=R7 nop\nhalt");
    start(Y);
    run_for(1);
    core.sync().set(1, 2);
    run_for(1);
    ASSERT_EQ(state_of(Y), waiting);
    set(control::r, Y, 2, 7);
    run_for(1);
    EXPECT_EQ(state_of(Y), halted);
}

TEST_F(ControlInstructions, TheBlockShowsTheInstructionAtThePc) {
    run(Y, "nop\nhalt code=77");
    EXPECT_EQ(get(control::block, Y, 0), 0x01001002u);
    EXPECT_EQ(get(control::block, Y, 6), 77u);
    EXPECT_EQ(get(control::version, V), 0x0001'0304u);
}

}  // namespace

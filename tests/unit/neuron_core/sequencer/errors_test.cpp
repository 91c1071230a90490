// SPDX-License-Identifier: Apache-2.0
// Error codes: doc/spec/neuron-core.md 10.1, and their order: 20.13 to 20.15.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "models/misuse_rules.h"
#include "platform/framework/kernel/fault_arguments.h"
#include "platform/framework/kernel/introspection.h"
#include "platform/framework/misuse/misuse.h"
#include "tests/unit/neuron_core/sequencer/engine_test.h"

namespace {

using namespace trn;
using testing::ElementsAre;

enum code : unsigned {
    illegal_instruction = 1,
    bad_operand,
    out_of_bounds,
    indirect_oob,
    memory_error_code,
    fetch,
    write_failed,
    timeout = 11,
};

class EngineErrors : public test::engine_test {
protected:
    explicit EngineErrors(const neuron_core::config& config = {}) : engine_test(config) {}

    /// Runs `words` on `e`; checks for failure at pc 0 with one notification, and returns the error
    /// code.
    unsigned failing(isa::engine e, const std::vector<std::uint8_t>& words) {
        set(control::control, e, sequencer_regs::control::reset.mask());
        load(e, words);
        start(e);
        run_for(100);
        EXPECT_EQ(state_of(e), failed);
        EXPECT_EQ(get(control::error_pc, e), 0u);
        EXPECT_EQ(get(control::retired, e), 0u);
        return error_of(e);
    }
    unsigned failing(isa::engine e, std::string_view text) { return failing(e, words_of(text)); }
    unsigned failing(isa::engine e, std::string_view text, unsigned byte, std::uint8_t value) {
        auto words = words_of(text);
        words.at(byte) = value;
        return failing(e, words);
    }
    unsigned operand_of(isa::engine e) { return get(control::error_detail, e) & 0xff; }
};

constexpr const char* copy = "copy dst=sbuf[0:32, 4096] fp32 [8:1] a=sbuf[0:32, 0] fp32 [8:1]";

TEST_F(EngineErrors, AFailingEngineNotifiesItsCodeAndPcAndOthersContinue) {
    load(V, "nop\nmultiply dst=psum[0:1, 0] fp32 [1:1] a=sbuf[0:1, 0] fp32 [1:1]\nhalt");
    load(Y, "update S[1]+=1 nop\nhalt");
    start(V);
    start(Y);
    run_for(100);
    EXPECT_EQ(state_of(V), failed);
    EXPECT_EQ(error_of(V), illegal_instruction);
    EXPECT_EQ(get(control::pc, V), 1u);
    EXPECT_EQ(get(control::error_pc, V), 1u);
    EXPECT_EQ(get(control::retired, V), 1u);
    EXPECT_THAT(entries(3), ElementsAre(entry{3, 3, 1 | 1 << 8}));
    EXPECT_EQ(state_of(Y), halted);
}

TEST_F(EngineErrors, OnlyAResetLetsAFailedEngineStartAgain) {
    failing(V, "multiply dst=psum[0:1, 0] fp32 [1:1] a=sbuf[0:1, 0] fp32 [1:1]");
    load(V, "halt");
    start(V);
    run_for(10);
    EXPECT_EQ(state_of(V), failed);
    set(control::control, V, sequencer_regs::control::reset.mask());
    EXPECT_EQ(state_of(V), idle);
    start(V);
    run_for(10);
    EXPECT_EQ(state_of(V), halted);
}

TEST_F(EngineErrors, WordsThatAreNoInstructionAreIllegal) {
    EXPECT_EQ(failing(Y, std::vector<std::uint8_t>(64)), illegal_instruction);  // FORMAT 0
    EXPECT_EQ(failing(Y, "nop", 3, 2), illegal_instruction);                    // FORMAT 2
    EXPECT_EQ(failing(Y, "nop", 0, 0x77), illegal_instruction);                 // no such opcode
    EXPECT_EQ(failing(Y, "nop", 2, 0x20), illegal_instruction);                 // reserved flag
    EXPECT_EQ(failing(Y, "nop", 2, 0x01), illegal_instruction);                 // LONG
    EXPECT_EQ(failing(Y, "nop", 4, 8), illegal_instruction);                    // wait mode
    for (const std::uint8_t mode : std::initializer_list<std::uint8_t>{6, 7, 8, 14, 15, 16})
        EXPECT_EQ(failing(Y, "nop", 6, mode), illegal_instruction) << int{mode};
    EXPECT_EQ(failing(V, copy, 2, 0), illegal_instruction);  // not LONG
}

TEST_F(EngineErrors, FieldsThatAnInstructionDoesNotUseMustBeZero) {
    for (unsigned byte = 16; byte < 64; ++byte)
        EXPECT_EQ(failing(Y, "nop", byte, 1), illegal_instruction) << byte;
    EXPECT_EQ(failing(V, copy, 16, 1), illegal_instruction);   // OP0
    EXPECT_EQ(failing(V, copy, 92, 1), illegal_instruction);   // B
    EXPECT_EQ(failing(V, copy, 120, 1), illegal_instruction);  // S1
    EXPECT_EQ(failing(V, copy, 43, 1), illegal_instruction);   // REG without OFFSET_REG
    EXPECT_EQ(operand_of(V), 0u);
    EXPECT_EQ(failing(V, copy, 76, 1), illegal_instruction);  // unused dimension of A
    EXPECT_EQ(operand_of(V), 1u);
    EXPECT_EQ(failing(V, copy, 88, 1), illegal_instruction);  // INDEX without INDIRECT
}

TEST_F(EngineErrors, AnInstructionOfAnotherEngineIsIllegal) {
    EXPECT_EQ(failing(Y, copy), illegal_instruction);
    EXPECT_EQ(failing(T, copy), illegal_instruction);
    EXPECT_EQ(failing(V, "load_table set=1"), illegal_instruction);
}

TEST_F(EngineErrors, AnInstructionThatTheEngineLacksFailsBeforeItsWaitAndItsBreakpoint) {
    const char* text =
        "wait S[1]>=5 exponential dst=sbuf[0:1, 0] fp32 [1:1] a=sbuf[0:1, 0] fp32 [1:1]";
    for (const auto e : {S, G, T, Y}) {
        EXPECT_EQ(failing(e, text), illegal_instruction);
        EXPECT_EQ(get(control::wait_lo, e), 0u);
        EXPECT_EQ(failing(e, text, 2, isa::flag::long_form | isa::flag::stop), illegal_instruction);
        auto first = words_of(text);
        first.resize(64);
        EXPECT_EQ(failing(e, first), illegal_instruction) << "without its second word";
    }
    auto first = words_of(text);
    first.resize(64);
    EXPECT_EQ(failing(V, first), fetch) << "of the second word, before the wait";
}

TEST_F(EngineErrors, AnOperatorThatDoesNotExistOrFitIsIllegal) {
    const char* text =
        "tensor_tensor op0=add dst=sbuf[0:1, 64] fp32 [1:1] a=sbuf[0:1, 0] fp32 "
        "[1:1] b=sbuf[0:1, 0] fp32 [1:1]";
    for (const std::uint8_t op :
         std::initializer_list<std::uint8_t>{15, 16, 17, 21, 23, 24, 31, 38, 255})
        EXPECT_EQ(failing(V, text, 16, op), illegal_instruction) << int{op};
    EXPECT_EQ(failing(Y, "reg_alu op=pow rd=R1 ra=R1 rb=R1"), illegal_instruction);
    EXPECT_EQ(failing(Y, "branch if=7 ra=R1 rb=R2 target=0"), illegal_instruction);
}

TEST_F(EngineErrors, BadOperandsAreReportedWithTheirOperand) {
    struct row {
        unsigned byte;
        std::uint8_t value;
        unsigned operand;
    };
    const row rows[] = {{39, 0xc0, 0},  // space 3
                        {41, 0, 0},     // no dimensions
                        {41, 5, 0},     // five
                        {46, 0, 0},     // count 0
                        {42, 128, 0},   // 129 partitions
                        {40, 20, 0},    // type 20
                        {36, 1, 0},     // misaligned
                        {68, 5, 1},     // E4M3 of 1 byte: a valid type, so the shape still matches
                        {70, 15, 1},    // partitions differ
                        {74, 4, 1}};    // counts differ
    for (const row& r : rows) {
        if (r.byte == 68) continue;
        EXPECT_EQ(failing(V, copy, r.byte, r.value), bad_operand) << r.byte;
        EXPECT_EQ(operand_of(V), r.operand) << r.byte;
    }
    // A is absent, so its other bytes must be 0.
    EXPECT_EQ(failing(V, copy, 67, 0), illegal_instruction);
    EXPECT_EQ(failing(Y, "write 0x100.3=1"), bad_operand);
    EXPECT_EQ(failing(Y, "loop rd=R1 step=0 imm=3 target=0"), bad_operand);
}

TEST_F(EngineErrors, ARequiredOperandThatIsAbsentIsBad) {
    auto words = words_of(copy);
    std::fill(words.begin() + 64, words.begin() + 92, 0);
    EXPECT_EQ(failing(V, words), bad_operand);
    EXPECT_EQ(operand_of(V), 1u);
    EXPECT_EQ(
        failing(V, "tensor_scalar op0=add dst=sbuf[0:1, 64] fp32 [1:1] a=sbuf[0:1, 0] fp32 [1:1]"),
        bad_operand);
    EXPECT_EQ(operand_of(V), 3u);
}

TEST_F(EngineErrors, StartPartitionsFollowTheirRule) {
    const auto result = [&](unsigned first, unsigned count) {
        const auto text =
            fmt::format("copy dst=sbuf[{}:{}, 64] fp32 [1:1] a=sbuf[0:{}, 0] fp32 [1:1]\nhalt",
                        first, first + count, count);
        set(control::control, V, sequencer_regs::control::reset.mask());
        load(V, words_of(text));
        start(V);
        run_for(10);
        return state_of(V) == halted ? 0u : error_of(V);
    };
    EXPECT_EQ(result(0, 128), 0u);
    EXPECT_EQ(result(32, 65), bad_operand);
    EXPECT_EQ(result(64, 64), 0u);
    EXPECT_EQ(result(32, 33), bad_operand);
    for (unsigned quadrant : {0, 32, 64, 96}) EXPECT_EQ(result(quadrant, 32), 0u) << quadrant;
    EXPECT_EQ(result(16, 16), bad_operand);
}

TEST_F(EngineErrors, EnginesReachTheirMemoriesOnly) {
    EXPECT_EQ(failing(G, "copy dst=psum[0:1, 0] fp32 [1:1] a=sbuf[0:1, 0] fp32 [1:1]"),
              bad_operand);
    EXPECT_EQ(failing(T, "load_stationary a=psum[0:1, 0] bf16 [1:1]"), bad_operand);
    EXPECT_EQ(operand_of(T), 1u);
    EXPECT_EQ(failing(V,
                      "tensor_tensor op0=add dst=sbuf[0:1, 0] fp32 [1:1] "
                      "a=psum[0:1, 0] fp32 [1:1] b=psum[0:1, 64] fp32 [1:1]"),
              bad_operand);
    EXPECT_EQ(operand_of(V), 2u);
}

TEST_F(EngineErrors, PatternsOutsideThePartitionAreOutOfBoundsAndWriteNothing) {
    sbuf_float(0, 0) = 1;
    EXPECT_EQ(failing(V, "copy dst=sbuf[0:1, 262140] fp32 [2:1] a=sbuf[0:1, 0] fp32 [2:1]"),
              out_of_bounds);
    EXPECT_EQ(get(control::error_detail, V) >> 8, 262'144u);
    EXPECT_EQ(sbuf_float(0, 262'140), 0);
    EXPECT_EQ(failing(V, "copy dst=sbuf[0:1, 0] fp32 [2:1] a=sbuf[0:1, 0] fp32 [2:-1]"),
              out_of_bounds);
    EXPECT_EQ(operand_of(V), 1u);
    EXPECT_EQ(failing(V, "copy dst=psum[0:1, 16384] fp32 [1:1] a=sbuf[0:1, 0] fp32 [1:1]"),
              out_of_bounds);
    EXPECT_EQ(failing(Y, "reg_move rd=R1 imm=0", 16, 64), out_of_bounds);
}

TEST_F(EngineErrors, AnOffsetFromARegisterIsCheckedWhenItIsUsed) {
    set(control::r, V, static_cast<std::uint32_t>(-1), 3);
    load(V, words_of("copy dst=sbuf[0:1, 0 + R3] fp32 [1:1] a=sbuf[0:1, 0] fp32 [1:1]"));
    start(V);
    run_for(10);
    EXPECT_EQ(error_of(V), out_of_bounds);
}

TEST_F(EngineErrors, AnIndirectOffsetOutsideThePartitionIsAnIndirectError) {
    const std::uint32_t far = 1 << 20;
    std::memcpy(core.sbuf().data() + 8192, &far, 4);
    EXPECT_EQ(
        failing(V,
                "copy dst=sbuf[0:1, 64] fp32 [1:1] a=sbuf[0:1, 0] fp32 [1:1] index sbuf[0, 8192]"),
        indirect_oob);
    EXPECT_EQ(operand_of(V), 1u);
}

TEST_F(EngineErrors, AnUncorrectableWordFailsItsReader) {
    core.inject("sram_parity", {{"offset", "0"}});
    EXPECT_EQ(failing(V, copy), memory_error_code);
    EXPECT_EQ(operand_of(V), 1u);
    EXPECT_EQ(failing(Y, "reg_load rd=R1 type=fp32 where=sbuf[0, 4]"), memory_error_code);
    EXPECT_EQ(sbuf_float(0, 4096), 0);
}

TEST_F(EngineErrors, ProgramsThatEndOrCannotBeReadAreFetchErrors) {
    load(Y, "nop\nnop");
    start(Y);
    run_for(10);
    EXPECT_EQ(error_of(Y), fetch);
    EXPECT_EQ(get(control::pc, Y), 2u);
    EXPECT_EQ(get(control::retired, Y), 2u);
    set(control::control, Y, sequencer_regs::control::reset.mask());
    set(control::program_hi, Y, 1);
    start(Y);
    run_for(10);
    EXPECT_EQ(error_of(Y), fetch);
    auto cut = words_of(copy);
    cut.resize(64);
    EXPECT_EQ(failing(V, cut), fetch);
}

TEST_F(EngineErrors, AWriteThatIsRefusedFails) {
    EXPECT_EQ(failing(Y, "write 0x100000000.4=1"), write_failed);
    EXPECT_EQ(failing(Y, "reg_load rd=R1 type=uint32 address=0x100000000"), write_failed);
    EXPECT_EQ(failing(Y, "reg_store ra=R1 type=uint32 address=0x100000000"), write_failed);
}

class CoreWithoutRings : public EngineErrors {
protected:
    CoreWithoutRings() : EngineErrors({.dma_base = std::uint64_t{1} << 40}) {}
};

TEST_F(CoreWithoutRings, ADoorbellThatIsRefusedFails) {
    EXPECT_EQ(failing(Y, "dma_start engines=1 queue=15 m2s=1 s2m=1"), write_failed);
}

TEST_F(EngineErrors, AWaitLongerThanItsLimitTimesOut) {
    set(control::wait_limit, Y, 5);
    load(Y, "wait S[9]>=1 nop\nhalt");
    start(Y);
    run_for(4.9);
    EXPECT_EQ(state_of(Y), waiting);
    run_for(0.2);
    EXPECT_EQ(state_of(Y), failed);
    EXPECT_EQ(error_of(Y), timeout);
}

TEST_F(EngineErrors, ASemaphoreThatWrapsIsCountedAndNotifiedAndTheEngineContinues) {
    struct wrap_counter final : statistics {
        void count(std::string_view counter, std::uint64_t value) override {
            if (counter == "sync_semaphore_wraps") wraps = value;
        }
        std::uint64_t wraps = 0;
    } counters;
    const auto wraps = [&] {
        core.publish(counters);
        return counters.wraps;
    };
    core.sync().set(1, 0x7fff'ffff);
    run(Y, "nop\nupdate S[1]+=1 nop\nhalt");
    EXPECT_EQ(state_of(Y), halted);
    EXPECT_EQ(semaphore(1), std::numeric_limits<std::int32_t>::min());
    EXPECT_EQ(wraps(), 1u);
    EXPECT_EQ(misuse::count(misuse::semaphore_wrap), 1u);
    EXPECT_THAT(entries(4), ElementsAre(entry{3, 4, 8 | 1 << 8})) << "code 8 at pc 1";
    core.sync().set(2, 0x7fff'ffff);
    run(Y, "event_semaphore wait S[2]>=-2:subtract update S[1]-=1\nhalt");  // both wrap around
    EXPECT_EQ(state_of(Y), halted);
    EXPECT_EQ(semaphore(2), std::numeric_limits<std::int32_t>::min() + 1);
    EXPECT_EQ(semaphore(1), std::numeric_limits<std::int32_t>::max());
    EXPECT_EQ(wraps(), 3u);
}

TEST_F(EngineErrors, ANanThatIsWrittenIsNotifiedWhereItIsDetected) {
    sbuf_float(0, 0) = std::numeric_limits<float>::quiet_NaN();
    const char* text = "reciprocal dst=sbuf[0:1, 64] fp32 [1:1] a=sbuf[0:1, 0] fp32 [1:1]\nhalt";
    run(V, text);
    EXPECT_TRUE(entries(3).empty());
    set(control::fp_config, V,
        static_cast<std::uint32_t>(sequencer_regs::fp_config::nan_detect.mask()));
    run(V, text);
    EXPECT_EQ(state_of(V), halted);
    EXPECT_THAT(entries(3), ElementsAre(entry{3, 3, 9}));
}

TEST_F(EngineErrors, TheHeaderIsCheckedBeforeTheWaitAndOperandsAfterIt) {
    load(V, "wait S[1]>=1 copy dst=sbuf[0:1, 1] fp32 [1:1] a=sbuf[0:1, 0] fp32 [1:1]");
    start(V);
    run_for(10);
    EXPECT_EQ(state_of(V), waiting);
    core.sync().set(1, 1);
    run_for(10);
    EXPECT_EQ(error_of(V), bad_operand);
    core.sync().set(1, 0);
    EXPECT_EQ(
        failing(S, "wait S[1]>=1 multiply dst=psum[0:1, 0] fp32 [1:1] a=sbuf[0:1, 0] fp32 [1:1]"),
        illegal_instruction);
}

}  // namespace

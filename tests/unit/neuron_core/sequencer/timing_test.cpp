// SPDX-License-Identifier: Apache-2.0
// Times of doc/spec/neuron-core.md 9.2, 9.4, appendix A and B.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/unit/neuron_core/sequencer/engine_test.h"

namespace {

using namespace trn;

class EngineTimes : public test::engine_test {
protected:
    using test::engine_test::engine_test;
    /// Nanoseconds from START of a buffered program until S[200] is 1.
    double time_of(isa::engine e, const std::string& text) {
        load(e, "wait S[201]>=1 nop\n" + text + "\nhalt");
        core.sync().set(200, 0);
        core.sync().set(201, 0);
        start(e);
        run_for(5);
        core.sync().set(201, 1);
        const sc_core::sc_time begin = sc_core::sc_time_stamp();
        // The engine wakes after 30 ns, the nop takes 16 cycles.
        while (semaphore(200) == 0 &&
               sc_core::sc_time_stamp() - begin < sc_core::sc_time(1, sc_core::SC_MS))
            sc_core::sc_start(core.sync().changed().triggered() ? sc_core::SC_ZERO_TIME : step);
        return (sc_core::sc_time_stamp() - begin).to_seconds() * 1e9 - 30;
    }
    const sc_core::sc_time step{1, sc_core::SC_NS};
};

constexpr double ns_1200 = 1 / 1.2, ns_2400 = 1 / 2.4;

TEST_F(EngineTimes, AppendixACompletesAfter1134Cycles) {
    EXPECT_NEAR(time_of(V,
                        "update S[200]+=1 tensor_tensor op0=add dst=sbuf[0:128, 4096] fp32 [512:1] "
                        "a=sbuf[0:128, 0] fp32 [512:1] b=sbuf[0:128, 2048] fp32 [512:1]"),
                16 * ns_1200 + 945, 3);
}

using ThrottledEngine = EngineTimes;

TEST_F(ThrottledEngine, RunsAtHalfItsClockFromTheMomentThatThrottlingBegins) {
    load(V,
         "update S[1]+=1 memset dst=sbuf[0:1, 0] fp32 [12000:1] imm=0.0\n"
         "update S[2]+=1 memset dst=sbuf[0:1, 65536] fp32 [12000:1] imm=0.0\nhalt");
    start(V);
    run_for(5);  // half of the first interval's 10 us
    core.set_throttled(true, false);
    run_for(10);  // the other half at half the rate, then 110 pipeline cycles
    EXPECT_EQ(semaphore(1), 0);
    run_for(0.4);
    EXPECT_EQ(semaphore(1), 1);
    run_for(10);
    core.set_throttled(false, false);  // 10.4 of the second interval's 20 us have passed
    run_for(4.6);
    EXPECT_EQ(semaphore(2), 0);
    run_for(0.5);
    EXPECT_EQ(semaphore(2), 1);
}

TEST_F(ThrottledEngine, ReportsBothChangesOfItsClockInTheSlotOfTensor) {
    get(control::status, T);  // creates the engines
    core.set_throttled(true, true);
    run_for(1);
    core.set_throttled(false, true);
    run_for(1);
    core.set_throttled(true, false);
    run_for(1);
    constexpr std::uint8_t throttle = 5;
    const std::vector<entry> both{{throttle, 0, 500u | 1000u << 16},
                                  {throttle, 0, 1000u | 1000u << 16}};
    EXPECT_EQ(entries(15), both);
}

TEST_F(ThrottledEngine, WhoseSlotIsSetReportsThere) {
    set(control::throttle_config, T, 9);
    core.set_throttled(true, true);
    run_for(1);
    EXPECT_EQ(entries(9).size(), 1u);
    EXPECT_TRUE(entries(15).empty());
}

TEST_F(EngineTimes, DependentScalarInstructionsOfOneElementTake264CyclesEach) {
    std::string chain;
    for (int n = 0; n < 10; ++n)
        chain += std::string(n == 9 ? "update S[200]+=1 " : "") +
                 "activate op0=copy dst=sbuf[0:128, 0] fp32 [1:1] a=sbuf[0:128, 0] fp32 [1:1]\n";
    EXPECT_NEAR(time_of(S, chain), 16 * ns_1200 + 10 * 264 * ns_1200, 3);
}

TEST_F(EngineTimes, AFunctionOfAnotherSetCostsAMicrosecondUnlessItsTableIsLoaded) {
    const auto activate = [](const char* function) {
        return fmt::format(
            "update S[200]+=1 activate op0={} dst=sbuf[0:1, 0] fp32 [1:1] a=sbuf[0:1, 64] fp32 "
            "[1:1]",
            function);
    };
    const double once = (16 + 264) * ns_1200;
    EXPECT_NEAR(time_of(S, activate("exp")), once, 3) << "set 0 after reset";
    EXPECT_NEAR(time_of(S, activate("sqrt")), once + 1000, 3) << "set 5";
    EXPECT_NEAR(time_of(S, activate("rsqrt")), once, 3);
    EXPECT_NEAR(time_of(S, "load_table set=2\n" + activate("erf")), once + 1000, 3);
    EXPECT_NEAR(time_of(S, "load_table set=2\n" + activate("silu")), once + 16 * ns_1200, 3);
}

class SlowTables : public EngineTimes {
protected:
    SlowTables() : EngineTimes({.act_table_load = sc_core::sc_time(3, sc_core::SC_US)}) {}
};

TEST_F(SlowTables, TakeTheTimeOfTheBoard) {
    const std::string sqrt =
        "update S[200]+=1 activate op0=sqrt dst=sbuf[0:1, 0] fp32 [1:1] a=sbuf[0:1, 64] fp32 [1:1]";
    EXPECT_NEAR(time_of(S, sqrt), (16 + 264) * ns_1200 + 3000, 3);
    EXPECT_NEAR(time_of(S, sqrt), (16 + 264) * ns_1200, 3);
}

TEST_F(EngineTimes, IndependentInstructionsFollowAtTheirInterval) {
    std::string stream;
    for (int n = 0; n < 10; ++n)
        stream += fmt::format(
            "{}activate op0=copy dst=sbuf[0:128, {}] fp32 [512:1] "
            "a=sbuf[0:128, 0] fp32 [512:1]\n",
            n == 9 ? "update S[200]+=1 " : "", 4096 + 2048 * n);
    EXPECT_NEAR(time_of(S, stream), (16 + 10 * 512 + 200) * ns_1200, 3);
}

TEST_F(EngineTimes, SixteenBitCopiesInSbufRunAtFourElementsPerCycle) {
    EXPECT_NEAR(time_of(V,
                        "update S[200]+=1 copy dst=sbuf[0:128, 8192] bf16 [4096:1] "
                        "a=sbuf[0:128, 0] bf16 [4096:1]"),
                (16 + 1024 + 110) * ns_1200, 3);
    EXPECT_NEAR(time_of(V,
                        "update S[200]+=1 copy dst=sbuf[0:128, 16384] fp32 [4096:1] "
                        "a=sbuf[0:128, 0] fp32 [4096:1]"),
                (16 + 4096 + 110) * ns_1200, 3);
}

/// Scalar's copy of 4,096 elements.
std::string scalar_copy(const char* type) {
    return fmt::format(
        "update S[200]+=1 copy dst=sbuf[0:128, 16384] {0} [4096:1] "
        "a=sbuf[0:128, 0] {0} [4096:1]",
        type);
}

TEST_F(EngineTimes, ScalarCopiesSixteenBitsAtTwoElementsPerCycle) {
    EXPECT_NEAR(time_of(S, scalar_copy("bf16")), (16 + 2048 + 200) * ns_1200, 3);
    EXPECT_NEAR(time_of(S, scalar_copy("fp32")), (16 + 4096 + 200) * ns_1200, 3);
}

class EngineTimesV3 : public EngineTimes {
protected:
    EngineTimesV3() : EngineTimes({.generation = 3}) {}
};

TEST_F(EngineTimesV3, ScalarCopiesOneElementOfAnyTypePerCycle) {
    const double fp32 = time_of(S, scalar_copy("fp32"));
    EXPECT_GT(fp32, 4096 * ns_2400);
    EXPECT_NEAR(time_of(S, scalar_copy("bf16")), fp32, 1);
}

TEST_F(EngineTimes, MatmulsBackToBackTake512CyclesEachWithTheirLoadsHidden) {
    std::string stream;
    for (int n = 0; n < 8; ++n)
        stream += fmt::format(
            "load_stationary a=sbuf[0:128, {}] bf16 [128:1]\n"
            "{}multiply dst=psum[0:128, {}] fp32 [512:1] a=sbuf[0:128, 0] bf16 [512:1]\n",
            1024 + 256 * n, n == 7 ? "update S[200]+=1 " : "", 2048 * n);
    // The nop before runs on the Tensor engine's 2.4 GHz.
    EXPECT_NEAR(time_of(T, stream), (16 + 32 + 8 * 512 + 320) * ns_2400, 3);
}

/// Matmuls of 128x128x512, and the cycles between successive ones.
struct matmul_kind {
    const char* name;
    const char* mode;     ///< of both instructions
    const char* weights;  ///< operand of LOAD_STATIONARY
    const char* operand;  ///< of MULTIPLY
    double cycles;
};

class MatmulTimes : public EngineTimes, public testing::WithParamInterface<matmul_kind> {};

TEST_P(MatmulTimes, BackToBackTheyTakeTheirInterval) {
    const matmul_kind& kind = GetParam();
    const auto stream = [&](int pairs) {
        std::string text;
        for (int n = 0; n < pairs; ++n)
            text += fmt::format(
                "load_stationary {0} a={1}\n{2}multiply {0} "
                "dst=psum[0:128, {3}] fp32 [512:1] a={4}\n",
                kind.mode, kind.weights, n == pairs - 1 ? "update S[200]+=1 " : "", 2048 * (n % 8),
                kind.operand);
        return text;
    };
    const double ns = (time_of(T, stream(12)) - time_of(T, stream(4))) / 8;
    EXPECT_NEAR(ns, kind.cycles * ns_2400, 0.5);
}

// doc/spec/neuron-core.md 9.4: 213.3 ns, in which MX contracts 512 rows, double row 256, and sparse
// 4:16 accepts a moving tile of 512 rows; FP32 takes four times as long.
INSTANTIATE_TEST_SUITE_P(
    Kinds, MatmulTimes,
    testing::Values(
        matmul_kind{"Bf16", "", "sbuf[0:128, 0] bf16 [128:1]", "sbuf[0:128, 4096] bf16 [512:1]",
                    512},
        matmul_kind{"Fp8", "", "sbuf[0:128, 0] fp8_e4m3 [128:1]",
                    "sbuf[0:128, 4096] fp8_e4m3 [512:1]", 512},
        matmul_kind{"Fp8DoubleRow", "double_row", "sbuf[0:128, 0] fp8_e4m3 [128:1, 2:128]",
                    "sbuf[0:128, 4096] fp8_e4m3 [512:1, 2:512]", 512},
        matmul_kind{
            "MxFp8", "mx", "sbuf[0:128, 0] fp8_e4m3fn_x4 [128:1] b=sbuf[0:100, 8192] e8m0 [128:1]",
            "sbuf[0:128, 4096] fp8_e4m3fn_x4 [512:1] b=sbuf[0:100, 9216] e8m0 [512:1]", 512},
        matmul_kind{"Sparse", "sparse=4 imm=4",
                    "sbuf[0:128, 0] bf16 [128:1] b=sbuf[0:128, 1024] uint16 [32:1]",
                    "sbuf[0:128, 4096] bf16 [512:1, 4:512]", 512},
        matmul_kind{"Fp32", "", "sbuf[0:128, 0] fp32 [128:1]", "sbuf[0:128, 4096] fp32 [512:1]",
                    2048},
        matmul_kind{"Fp32OfOnes", "onezero_stationary", "sbuf[0:128, 0] fp32 [128:1]",
                    "sbuf[0:128, 4096] fp32 [512:1]", 1024}),
    [](const auto& one) { return one.param.name; });

class ColdArray : public EngineTimes {
protected:
    ColdArray() : EngineTimes({.warm_up = true}) {}
};

TEST_F(ColdArray, ComputesAtHalfRateForThreeMicrosecondsAfterThreeOfIdling) {
    // Time of `count` multiplies of 512 cycles; the first waits for its stationary matrix.
    const auto took = [&](unsigned count) {
        std::string stream = "load_stationary a=sbuf[0:128, 0] bf16 [128:1]\n";
        for (unsigned n = 0; n < count; ++n)
            stream += fmt::format(
                "{}multiply dst=psum[0:128, {}] fp32 [512:1] a=sbuf[0:128, 4096] bf16 [512:1]\n",
                n + 1 == count ? "update S[200]+=1 " : "", n % 8 * 2048);
        return time_of(T, stream) - 16 * ns_2400 - 320 * ns_2400;
    };
    // At half rate: loads of 64 cycles, multiplies of 1,024 cycles, eight of which start within 3
    // us (7,200 cycles); the rest at full rate.
    EXPECT_NEAR(took(3), (64 + 3 * 1024) * ns_2400, 4);
    EXPECT_NEAR(took(17), (64 + 7 * 1024 + 10 * 512) * ns_2400, 4);
    EXPECT_NEAR(took(3), (64 + 3 * 1024) * ns_2400, 4) << "idle for 5 us in between";
}

TEST_F(EngineTimes, TheArrayIsWarmUnlessTheParameterSaysOtherwise) {
    EXPECT_NEAR(time_of(T,
                        "load_stationary a=sbuf[0:128, 0] bf16 [128:1]\n"
                        "update S[200]+=1 multiply dst=psum[0:128, 0] fp32 [512:1] "
                        "a=sbuf[0:128, 4096] bf16 [512:1]"),
                (16 + 32 + 512 + 320) * ns_2400, 4);
}

TEST_F(EngineTimes, VectorExponentiatesFourTimesAsFastAsScalar) {
    const std::string operands =
        "dst=sbuf[0:128, 4096] fp32 [512:1] a=sbuf[0:128, 0] fp32 [512:1]\n";
    EXPECT_NEAR(time_of(S, "update S[200]+=1 activate op0=exp " + operands),
                (16 + 512 + 200) * ns_1200, 3);
    EXPECT_NEAR(time_of(V, "update S[200]+=1 exponential " + operands), (16 + 128 + 110) * ns_1200,
                3);
}

}  // namespace

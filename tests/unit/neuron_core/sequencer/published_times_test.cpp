// SPDX-License-Identifier: Apache-2.0
// Times published by AWS (doc/spec/neuron-core.md 16.3), simulated with the published instruction
// mix on all engines involved. doc/fidelity.md lists published and simulated times.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/unit/neuron_core/sequencer/engine_test.h"

namespace {

using namespace trn;

/// A core of Trainium1.
class PublishedTimes : public test::engine_test {
protected:
    PublishedTimes()
        : engine_test({.sbuf_size = 128 * 196'608,
                       .clock_hz = 2'800'000'000,
                       .crossbars = 5,
                       .generation = 2}) {}

    /// Microseconds until all of `engines` have halted.
    double run_all(std::initializer_list<engine> engines) {
        const sc_core::sc_time begin = sc_core::sc_time_stamp();
        for (const engine e : engines) start(e);
        for (const engine e : engines)
            while (state_of(e) != halted && state_of(e) != failed) run_for(0.5);
        for (const engine e : engines) EXPECT_EQ(state_of(e), halted) << name_of(e);
        return (sc_core::sc_time_stamp() - begin).to_seconds() * 1e6;
    }
    double busy_us(engine e) {
        return static_cast<double>(get(control::busy_lo, e)) * 1e6 /
               static_cast<double>(isa::clock_of(e, isa::generation::v2));
    }

    static constexpr unsigned rounds = 4096 / 128 * 16;  ///< 4,096 channels, 16 states

    /// The tutorial's fused Mamba kernel: one round for each state and 128 channels. Scalar
    /// computes exp(delta A), Tensor broadcasts rows of B and C over the partitions, Vector the
    /// rest: delta u, times B, scan, times C, sum over the states. FP32, 512 steps of the sequence.
    void load_mamba(unsigned rounds, bool product_in_round, bool carries_state) {
        const auto tile = [](unsigned n) { return fmt::format("sbuf[0:128, {}] fp32 [512:1]", n); };
        const auto loop = [&](unsigned times) {
            return fmt::format("loop rd=R1 step=1 imm={} target=again\nhalt\n", times);
        };
        const std::string delta = tile(0), u = tile(2048), delta_a = tile(8192),
                          product = tile(12288), input = tile(14336), states = tile(16384),
                          output = tile(18432), sum = tile(20480);
        load(V,
             "again:\n" +
                 (product_in_round
                      ? fmt::format("tensor_tensor op0=mult dst={} a={} b={}\n", product, delta, u)
                      : "") +
                 fmt::format("wait S[1]>=1:subtract tensor_tensor op0=mult dst={} a={} "
                             "b=psum[0:128, 0] fp32 [512:1]\n"
                             "wait S[3]>=1:subtract update S[4]+=1 tensor_tensor_scan op0=mult "
                             "op1=add dst={} a={} b={} s0={}\n",
                             input, product, states, delta_a, input,
                             carries_state ? "sbuf[0, 4096] fp32" : "fp32(0)") +
                 (carries_state ? "copy dst=sbuf[0:128, 4096] fp32 [1:1] "
                                  "a=sbuf[0:128, 18428] fp32 [1:1]\n"
                                : "") +
                 fmt::format("wait S[1]>=1:subtract update S[2]+=1 tensor_tensor op0=mult dst={} "
                             "a={} b=psum[0:128, 2048] fp32 [512:1]\n"
                             "tensor_tensor op0=add dst={} a={} b={}\n",
                             output, states, sum, sum, output) +
                 loop(rounds));
        load(S, fmt::format("again: wait S[4]>=1:subtract activate op0=exp dst={} a={} "
                            "s0=sbuf[0, 4100] fp32\nupdate S[3]+=1 nop\n{}",
                            delta_a, delta, loop(rounds)));
        load(T, fmt::format("again: wait S[2]>=1:subtract load_stationary "
                            "a=sbuf[0:1, 24576] fp32 [128:1] onezero_stationary\n"
                            "update S[1]+=1 multiply onezero_stationary "
                            "dst=psum[0:128, 0] fp32 [512:1] a=sbuf[0:1, 26624] fp32 [512:1]\n"
                            "update S[1]+=1 multiply onezero_stationary "
                            "dst=psum[0:128, 2048] fp32 [512:1] a=sbuf[0:1, 28672] fp32 [512:1]\n"
                            "{}",
                            loop(rounds)));
        core.sync().set(2, 1);  // PSUM and the buffer of exp(delta A) are free
        core.sync().set(4, 1);
    }
};

TEST_F(PublishedTimes, DependentScalarInstructionsTake189NanosecondsEach) {
    std::string chain;
    constexpr unsigned length = 100;
    for (unsigned n = 0; n < length; ++n)
        chain += "activate op0=copy dst=sbuf[0:128, 0] fp32 [1:1] a=sbuf[0:128, 0] fp32 [1:1]\n";
    load(S, "rank rd=R1 what=ns_low\n" + chain + "drain\nrank rd=R2 what=ns_low\nhalt");
    run_all({S});
    EXPECT_NEAR((reg(S, 2) - reg(S, 1)) / double{length}, 189, 1);
}

// Published: 2.34 ms, Vector 92.16 % busy. These streams omit the loads that delay Vector.
TEST_F(PublishedTimes, MambaOf4096ChannelsTakesTheTimeThatVectorIsBusy) {
    load_mamba(rounds, true, false);
    constexpr double published = 2340 * 0.9216;
    EXPECT_NEAR(run_all({V, S, T}), published, 0.05 * published);
    EXPECT_NEAR(busy_us(V), rounds * 8 * 512 / 1120.0, 0.01);
}

// Published: 1.61 ms, Vector 99.63 % busy.
TEST_F(PublishedTimes, MambaWithItsProductOutsideTheLoopTakes1610Microseconds) {
    load_mamba(rounds, false, false);
    EXPECT_NEAR(run_all({V, S, T}), 1610, 0.05 * 1610);
}

// Published: 3.3, 6.6, 13.3 ms for 1,024, 2,048, 4,096 steps, in tiles of 512: the time is linear.
TEST_F(PublishedTimes, MambaInTilesOf512StepsTakes3300MicrosecondsFor1024) {
    load_mamba(2 * rounds, false, true);
    const double tiled = run_all({V, S, T});
    EXPECT_NEAR(tiled, 3300, 0.05 * 3300);
    EXPECT_NEAR(4 * tiled, 13300, 0.05 * 13300);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Complete programs of several engines: doc/spec/neuron-core.md appendix B.
#include <gmock/gmock.h>

#include <cmath>

#include "tests/support/register_contract.h"
#include "tests/unit/neuron_core/sequencer/engine_test.h"

namespace {

using namespace trn;
using testing::ElementsAre;

class Programs : public test::engine_test {};

TEST_F(Programs, ControlBlocksKeepTheirRegisterContract) {
    for (unsigned e = 0; e < isa::engine_count; ++e)
        test::register_contract(aperture, sequencer_regs::table,
                                neuron_core::engines_offset + e * core_engines::stride)
            .check();
    EXPECT_EQ(aperture.write<std::uint32_t>(neuron_core::engines_offset + core_engines::size, 1),
              tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

TEST_F(Programs, SoftmaxOverThreeEnginesAddsUpToOneInTheTimeOfAppendixB) {
    constexpr unsigned rows = 128, columns = 512;
    const auto x = [](unsigned r, unsigned c) {
        return static_cast<float>(std::sin(r * 0.7 + c * 1.3) * 6);
    };
    for (unsigned r = 0; r < rows; ++r)
        for (unsigned c = 0; c < columns; ++c) sbuf_float(r, 4 * c) = x(r, c);

    // x at byte 0, exp at 4096, m at 16384, s at 16388, r at 16392, result at 8192
    load(V,
         "wait S[20]>=16 update S[21]+=1 tensor_reduce op0=max subdim=1 negate "
         "dst=sbuf[0:128, 16384] fp32 [1:1] a=sbuf[0:128, 0] fp32 [512:1]\n"
         "wait S[22]>=1 reciprocal dst=sbuf[0:128, 16392] fp32 [1:1] "
         "a=sbuf[0:128, 16388] fp32 [1:1]\n"
         "update S[23]+=1 tensor_scalar op0=mult dst=sbuf[0:128, 8192] fp32 [512:1] "
         "a=sbuf[0:128, 4096] fp32 [512:1] s0=sbuf[0, 16392] fp32\n"
         "halt code=1");
    load(S,
         "wait S[21]>=1 activate op0=exp reduce=add cmd=reset_reduce "
         "dst=sbuf[0:128, 4096] fp32 [512:1] a=sbuf[0:128, 0] fp32 [512:1] "
         "s1=sbuf[0, 16384] fp32\n"
         "update S[22]+=1 read_accumulator dst=sbuf[0:128, 16388] fp32 [1:1]\n"
         "halt code=2");
    load(Y, "event_semaphore wait S[23]>=1 update S[24]+=1\nhalt code=3");
    for (const engine e : {V, S, Y}) start(e);
    run_for(10);
    core.sync().set(20, 16);
    const sc_core::sc_time begin = sc_core::sc_time_stamp();
    while (semaphore(23) == 0) run_for(0.001);
    const double ns = (sc_core::sc_time_stamp() - begin).to_seconds() * 1e9;
    run_for(10);

    for (const engine e : {V, S, Y}) EXPECT_EQ(state_of(e), halted);
    EXPECT_THAT(entries(5 + 4), ElementsAre(entry{1, 4, 3}));
    for (unsigned r = 0; r < rows; ++r) {
        double largest = x(r, 0), sum = 0, total = 0;
        for (unsigned c = 0; c < columns; ++c) largest = std::max<double>(largest, x(r, c));
        for (unsigned c = 0; c < columns; ++c) sum += std::exp(x(r, c) - largest);
        for (unsigned c = 0; c < columns; ++c) {
            const double expected = std::exp(x(r, c) - largest) / sum;
            ASSERT_NEAR(sbuf_float(r, 8192 + 4 * c), expected, 1e-6 * expected + 1e-9)
                << r << " " << c;
            total += sbuf_float(r, 8192 + 4 * c);
        }
        EXPECT_NEAR(total, 1, 2e-6);  // an FP32 sum of 512 terms in sequence
    }
    // Two waits across engines add 30 ns each, the first wait of Vector another 30. The read of the
    // accumulators follows the activation's interval.
    const double cycles = (512 + 110) + 512 + (64 + 200) + (64 + 110) + (512 + 110);
    EXPECT_NEAR(ns, cycles / 1.2 + 3 * 30, 5);
}

TEST_F(Programs, AMatmulOfTheTensorEngineIsReadByTheVectorEngine) {
    for (unsigned k = 0; k < 4; ++k)
        for (unsigned n = 0; n < 3; ++n) {
            sbuf_float(k, 4 * n) = static_cast<float>(k + 1 + n * 10);  // moving
            sbuf_float(k, 64 + 4 * n) = static_cast<float>(n == k);     // stationary
        }
    load(T,
         "load_stationary a=sbuf[0:4, 64] fp32 [3:1]\n"
         "update S[1]+=1 multiply dst=psum[0:3, 0] fp32 [3:1] a=sbuf[0:4, 0] fp32 [3:1]\nhalt");
    load(V, "wait S[1]>=1 copy dst=sbuf[0:3, 256] fp32 [3:1] a=psum[0:3, 0] fp32 [3:1]\nhalt");
    start(T);
    start(V);
    run_for(100);
    EXPECT_EQ(state_of(T), halted);
    EXPECT_EQ(state_of(V), halted);
    for (unsigned m = 0; m < 3; ++m)
        for (unsigned n = 0; n < 3; ++n)
            EXPECT_EQ(sbuf_float(m, 256 + 4 * n), static_cast<float>(m + 1 + n * 10));
    EXPECT_EQ(get(control::bytes_written_lo, T), 36u);
}

}  // namespace

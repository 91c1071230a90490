// SPDX-License-Identifier: Apache-2.0
// Software errors in programs: doc/models/neuron_core/engine_checks.md.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>

#include "models/misuse_rules.h"
#include "platform/framework/misuse/misuse.h"
#include "tests/unit/neuron_core/sequencer/engine_test.h"

namespace {

using namespace trn;
using testing::Contains;

class EngineChecks : public test::engine_test {
protected:
    explicit EngineChecks(const neuron_core::config& config = {}) : engine_test(config) {}

    /// Writes `count` FP32 values to each of `partitions` partitions of SBUF from the host.
    void write_sbuf(unsigned partitions, std::uint32_t offset, unsigned count, float value) {
        for (unsigned p = 0; p < partitions; ++p)
            for (unsigned i = 0; i < count; ++i)
                ASSERT_EQ(aperture.write(p * 262'144u + offset + 4 * i,
                                         std::bit_cast<std::uint32_t>(value)),
                          tlm::TLM_OK_RESPONSE);
    }
    static void check_on_demand() {
        misuse::set_policy(misuse::tile_race, misuse::policy::log);
        misuse::set_policy(misuse::psum_collision, misuse::policy::log);
    }
    static std::uint64_t unwritten() { return misuse::count(misuse::sram_read_unwritten); }
    static std::uint64_t races() { return misuse::count(misuse::tile_race); }
};

// ---- Content

TEST_F(EngineChecks, NeverWrittenSbufReadsAsNanAndIsReported) {
    run(V,
        "copy dst=sbuf[0:2, 8192] fp32 [8:1] a=sbuf[0:2, 0] bf16 [8:1]\n"
        "copy dst=sbuf[0:2, 12288] fp32 [8:1] a=sbuf[0:2, 0] fp16 [8:1]\n"
        "copy dst=sbuf[0:2, 16384] fp32 [8:1] a=sbuf[0:2, 0] fp8_e4m3fn [8:1]\nhalt");
    EXPECT_EQ(state_of(V), halted);
    for (const unsigned offset : {0u, 8192u, 12288u, 16384u})
        for (unsigned i = 0; i < 8; ++i)
            EXPECT_TRUE(std::isnan(sbuf_float(1, offset + 4 * i))) << offset << " " << i;
    EXPECT_EQ(unwritten(), 3u);
}

TEST_F(EngineChecks, BytesThatTheHostWroteAreNotReported) {
    write_sbuf(4, 64, 16, 1.5f);
    run(V, "copy dst=sbuf[0:4, 8192] fp32 [16:1] a=sbuf[0:4, 64] fp32 [16:1]\nhalt");
    EXPECT_EQ(unwritten(), 0u);
    EXPECT_EQ(sbuf_float(3, 8192 + 60), 1.5f);
}

TEST_F(EngineChecks, BytesBesideWrittenOnesAreReported) {
    get(control::status, V);  // engines exist before the host writes
    write_sbuf(1, 64, 16, 1.5f);
    run(V, "copy dst=sbuf[0:1, 8192] fp32 [17:1] a=sbuf[0:1, 64] fp32 [17:1]\nhalt");
    EXPECT_EQ(unwritten(), 1u);
    EXPECT_EQ(sbuf_float(0, 8192 + 60), 1.5f);
    EXPECT_TRUE(std::isnan(sbuf_float(0, 8192 + 64)));
}

TEST_F(EngineChecks, ResultsOfEnginesAreWritten) {
    run(V,
        "memset dst=sbuf[0:128, 0] fp32 [512:1] imm=0.0\n"
        "memset dst=sbuf[0:128, 40960] bf16 [16:2] imm=0.0\n"
        "memset dst=psum[0:128, 0] fp32 [512:1] imm=0.0\n"
        "tensor_tensor op0=add dst=sbuf[0:128, 8192] fp32 [512:1] a=sbuf[0:128, 0] fp32 [512:1] "
        "b=psum[0:128, 0] fp32 [512:1]\n"
        "copy dst=sbuf[0:128, 16384] bf16 [16:1] a=sbuf[0:128, 40960] bf16 [16:2]\nhalt");
    EXPECT_EQ(state_of(V), halted);
    EXPECT_EQ(unwritten(), 0u);
}

TEST_F(EngineChecks, MaskedElementsMayBeUnwritten) {
    write_sbuf(1, 4096, 8, 0.0f);  // a predicate of UINT32 zeroes
    run(V,
        "copy_predicated dst=sbuf[0:1, 8192] fp32 [8:1] a=sbuf[0:1, 0] fp32 [8:1] "
        "b=sbuf[0:1, 4096] uint32 [8:1]\nhalt");
    EXPECT_EQ(state_of(V), halted);
    EXPECT_EQ(unwritten(), 0u);
}

TEST_F(EngineChecks, PowerLossForgetsWhatWasWritten) {
    write_sbuf(1, 0, 16, 1.5f);
    run(V, "copy dst=sbuf[0:1, 8192] fp32 [16:1] a=sbuf[0:1, 0] fp32 [16:1]\nhalt");
    EXPECT_EQ(unwritten(), 0u);
    power_lost.set(true);
    run_for(1);
    power_lost.set(false);
    run_for(1);
    run(V, "copy dst=sbuf[0:1, 8192] fp32 [16:1] a=sbuf[0:1, 0] fp32 [16:1]\nhalt");
    EXPECT_EQ(unwritten(), 1u);
}

// ---- Races

constexpr const char* produce = "memset dst=sbuf[0:128, 0] fp32 [512:1] imm=1.0\n";
constexpr const char* consume =
    "activate op0=copy dst=sbuf[0:128, 8192] fp32 [512:1] a=sbuf[0:128, 0] fp32 [512:1]\n";

TEST_F(EngineChecks, TwoEnginesWithoutASemaphoreRace) {
    check_on_demand();
    load(V, std::string(produce) + "halt");
    load(S, "delay cycles=64\n" + std::string(consume) + "halt");
    start(V);
    start(S);
    run_for(100);
    EXPECT_EQ(races(), 1u);
}

TEST_F(EngineChecks, PartitionsBetweenScalesDoNotRace) {
    check_on_demand();
    // Scales start at 4: partitions 4 to 7 and 36 to 39.
    const std::string quantize =
        "quantize_mx dst=sbuf[0:64, 8192] fp8_e4m3fn_x4 [512:1] a=sbuf[0:64, 0] bf16 [2048:1] "
        "b=sbuf[4:40, 16384] e8m0 [512:1]\nhalt";
    const auto races_with = [&](const char* partitions) {
        const auto before = races();
        load(V, quantize);
        load(G, fmt::format("delay cycles=64\nmemset dst=sbuf[{}, 16384] uint8 [512:1] imm=1\n"
                            "halt",
                            partitions));
        start(V);
        start(G);
        run_for(100);
        EXPECT_EQ(state_of(V), halted);
        EXPECT_EQ(state_of(G), halted);
        return races() - before;
    };
    EXPECT_EQ(races_with("0:4"), 0u);
    EXPECT_EQ(races_with("32:36"), 0u);
    EXPECT_EQ(races_with("32:37"), 1u);
}

TEST_F(EngineChecks, RacesAreFoundOnDemandOnly) {
    load(V, std::string(produce) + "halt");
    load(S, "delay cycles=64\n" + std::string(consume) + "halt");
    start(V);
    start(S);
    run_for(100);
    EXPECT_EQ(races(), 0u);
}

TEST_F(EngineChecks, ARaceIsFoundLongAfterTheOtherAccess) {
    check_on_demand();
    load(V, std::string(produce) + "halt");
    load(S, "delay cycles=60000\n" + std::string(consume) + "halt");
    start(V);
    start(S);
    run_for(100);
    EXPECT_EQ(races(), 1u);
}

TEST_F(EngineChecks, ASemaphoreOrdersTwoEngines) {
    check_on_demand();
    load(V, "update S[4]+=1 " + std::string(produce) + "halt");
    load(S, "wait S[4]>=1 update S[5]+=1 " + std::string(consume) + "halt");
    start(V);
    start(S);
    run_for(100);
    EXPECT_EQ(state_of(S), halted);
    EXPECT_EQ(races(), 0u);
}

TEST_F(EngineChecks, AChainThroughAThirdEngineOrders) {
    check_on_demand();
    load(V, std::string(produce) + "update S[4]+=1 nop\nhalt");
    load(Y, "wait S[4]>=1 nop\nupdate E[9]=1 nop\nhalt");
    load(S, "wait E[9]==1 nop\n" + std::string(consume) + "halt");
    for (const auto e : {V, Y, S}) start(e);
    run_for(100);
    EXPECT_EQ(state_of(S), halted);
    EXPECT_EQ(races(), 0u);
}

TEST_F(EngineChecks, TheHostOrdersWhatItStarts) {
    check_on_demand();
    run(V, std::string(produce) + "halt");
    run(S, std::string(consume) + "halt");
    EXPECT_EQ(races(), 0u);
}

TEST_F(EngineChecks, AHostThatPostsASemaphoreOrders) {
    check_on_demand();
    load(V, std::string(produce) + "halt");
    load(S, "wait S[4]>=1 nop\n" + std::string(consume) + "halt");
    start(V);
    start(S);
    run_for(100);
    aperture.write(
        neuron_core::semaphores_offset + semaphores_regs::offset(sem::semaphore_increment, 4), 1);
    run_for(100);
    EXPECT_EQ(state_of(S), halted);
    EXPECT_EQ(races(), 0u);
}

TEST_F(EngineChecks, InterleavedColumnsDoNotRace) {
    check_on_demand();
    load(V, "memset dst=sbuf[0:128, 0] fp32 [64:2] imm=1.0\nhalt");
    load(G, "memset dst=sbuf[0:128, 4] fp32 [64:2] imm=2.0\nhalt");
    start(V);
    start(G);
    run_for(100);
    EXPECT_EQ(races(), 0u);
    EXPECT_EQ(sbuf_float(127, 8), 1.0f);
    EXPECT_EQ(sbuf_float(127, 12), 2.0f);
}

/// 20 offsets: 16 in column 0, 4 in column 1 of partitions 0 to 3.
constexpr const char* gather =
    "copy dst=sbuf[0:16, 8192] fp32 [20:1] a=sbuf[0:16, 0] fp32 [20:1] index sbuf[0, 16384]\n";

TEST_F(EngineChecks, TheIndexTileOfAGatherIsRead) {
    check_on_demand();
    write_sbuf(16, 0, 20, 1.0f);
    write_sbuf(16, 16384, 2, 0.0f);
    load(V, "delay cycles=64\n" + std::string(gather) + "halt");
    load(Y, "reg_store ra=R1 type=uint32 where=sbuf[3, 16388]\nhalt");
    start(V);
    start(Y);
    run_for(100);
    EXPECT_EQ(state_of(V), halted);
    EXPECT_EQ(races(), 1u);
    EXPECT_EQ(unwritten(), 0u);
}

TEST_F(EngineChecks, PartsOfAnIndexTileThatAGatherDoesNotUseDoNotRace) {
    check_on_demand();
    write_sbuf(16, 0, 20, 1.0f);
    write_sbuf(16, 16384, 2, 0.0f);
    load(V, "delay cycles=64\n" + std::string(gather) + "halt");
    load(Y, "reg_store ra=R1 type=uint32 where=sbuf[4, 16388]\nhalt");
    start(V);
    start(Y);
    run_for(100);
    EXPECT_EQ(state_of(V), halted);
    EXPECT_EQ(races(), 0u);
}

TEST_F(EngineChecks, AnUnwrittenIndexTileIsReported) {
    write_sbuf(16, 0, 20, 1.0f);
    get(control::status, V);  // engines exist before the host writes
    write_sbuf(3, 16384, 2, 0.0f);
    run(V, std::string(gather) + "halt");
    EXPECT_EQ(unwritten(), 1u) << "once for each operand";
}

TEST_F(EngineChecks, TensorAndAnotherEngineInOneBankCollide) {
    check_on_demand();
    write_sbuf(32, 0, 32, 1.0f);
    load(T,
         "load_stationary a=sbuf[0:32, 0] fp32 [32:1] tile=(0, 0, 32, 32)\n"
         "multiply dst=psum[0:32, 0] fp32 [32:1] a=sbuf[0:32, 0] fp32 [32:1] tile=(0, 0, 32, "
         "32)\nhalt");
    load(V, "memset dst=psum[0:32, 1024] fp32 [64:1] imm=1.0\nhalt");
    start(T);
    start(V);
    run_for(100);
    EXPECT_EQ(state_of(T), halted);
    EXPECT_EQ(misuse::count(misuse::psum_collision), 1u);
    EXPECT_EQ(races(), 0u);
    const auto errors_of = [this](unsigned slot) {
        std::vector<std::uint32_t> codes;
        for (const entry& e : entries(slot)) codes.push_back(e.payload & 0xff);
        return codes;
    };
    auto all = errors_of(0);
    for (const auto code : errors_of(3)) all.push_back(code);
    EXPECT_THAT(all, Contains(10u));
}

// ---- Operand values

TEST_F(EngineChecks, AnActivationOutsideItsRangeIsReported) {
    write_sbuf(1, 0, 1, -1.0f);
    run(S, "activate op0=log dst=sbuf[0:1, 8192] fp32 [1:1] a=sbuf[0:1, 0] fp32 [1:1]\nhalt");
    EXPECT_EQ(misuse::count(misuse::activation_out_of_range), 1u);
}

TEST_F(EngineChecks, AReductionOnUndefinedAccumulatorsIsReported) {
    write_sbuf(1, 0, 8, 1.0f);
    run(V,
        "tensor_scalar_reduce op0=add reduce=add cmd=reduce s0=fp32(1.0) "
        "dst=sbuf[0:1, 8192] fp32 [8:1] a=sbuf[0:1, 0] fp32 [8:1]\nhalt");
    EXPECT_EQ(state_of(V), halted);
    EXPECT_EQ(misuse::count(misuse::reduce_without_reset), 1u);
}

class CoreOfTrainium2 : public EngineChecks {
protected:
    CoreOfTrainium2() : EngineChecks({.sbuf_size = 28 << 20, .generation = 3}) {}
};

TEST_F(CoreOfTrainium2, AccumulationOnBytesThatNoMatmulWroteIsReported) {
    for (unsigned p = 0; p < 32; ++p)
        for (unsigned i = 0; i < 32; ++i)
            aperture.write(p * 229'376u + 4 * i, std::bit_cast<std::uint32_t>(1.0f));
    run(T,
        "load_stationary a=sbuf[0:32, 0] fp32 [32:1] tile=(0, 0, 32, 32)\n"
        "multiply accumulate dst=psum[0:32, 0] fp32 [32:1] a=sbuf[0:32, 0] fp32 [32:1] "
        "tile=(0, 0, 32, 32)\nhalt");
    EXPECT_EQ(state_of(T), halted);
    EXPECT_EQ(misuse::count(misuse::psum_accumulate_undefined), 1u);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Programs of NeuronCores as the loader leaves them in registers and memory: doc/programs.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/neuron_isa/assembler/assembler.h"
#include "sw-stubs/programs/include/trn_program.h"
#include "tests/unit/stub/fake_device.h"
#include "trn/semaphores_regs.h"
#include "trn/sequencer_regs.h"

namespace trn::test {
namespace {

using testing::HasSubstr;

class StubPrograms : public testing::Test {
protected:
    static constexpr std::uint32_t core = 1;
    static constexpr std::uint64_t ms = 1'000'000;

    void SetUp() override {
        const auto transport = chip.transport();
        device = trn_create(&transport, nullptr);
        chip.answer_resets();
        ASSERT_EQ(trn_probe(device), TRN_OK) << trn_last_error(device);
        ASSERT_EQ(trn_reset_device(device), TRN_OK) << trn_last_error(device);
        chip.recording = true;
        ASSERT_EQ(trn_semaphore_set(device, TRN_SYNC_CORE, core, 0, 0), TRN_OK);
        sync = chip.log.back().offset - TRN_SEMAPHORES_SEMAPHORE_SET_OFFSET(0);
        chip.log.clear();
    }
    void TearDown() override { trn_destroy(device); }

    trn_program* load(std::string_view text, std::uint32_t on = core) {
        const auto set = isa::write_program_set(isa::assemble_set(text, "test.trn"));
        trn_program_options options{};
        options.core = on;
        trn_program* program = nullptr;
        EXPECT_EQ(trn_program_load(device, set.data(), set.size(), &options, &program), TRN_OK)
            << trn_last_error(device);
        return program;
    }
    static std::uint64_t address(const trn_program* program, std::uint32_t number = 0) {
        trn_tensor tensor{};
        trn_program_tensor(program, number, &tensor);
        return tensor.address;
    }
    std::uint64_t control(trn_core_engine engine, std::uint64_t reg) const {
        return sync + 0x100000 + engine * std::uint64_t{0x1000} + reg;
    }
    void set_state(trn_core_engine engine, trn_core_engine_mode mode) {
        chip.bar0[control(engine, TRN_SEQUENCER_STATUS_OFFSET)] = mode;
    }
    /// Values written to a register since the last call.
    std::vector<std::uint32_t> written(std::uint64_t offset) const {
        std::vector<std::uint32_t> values;
        for (const auto& a : chip.log)
            if (a.write && a.offset == offset) values.push_back(a.value);
        return values;
    }

    fake_device chip;
    trn_device* device = nullptr;
    std::uint64_t sync = 0;  // of the core, in BAR0
};

constexpr const char* tensors = ".tensor x int32 [1024] in\n.engine sync\nhalt\n";

TEST_F(StubPrograms, LoadedProgramsHaveSeparateMemory) {
    trn_program* const a = load(tensors);
    trn_program* const b = load(tensors);
    trn_program* const elsewhere = load(tensors, core + 1);
    EXPECT_GE(address(b), address(a) + 4096);
    EXPECT_NE(address(elsewhere), address(a));
    EXPECT_EQ(trn_program_unload(a), TRN_OK);
    trn_program* const c = load(tensors);
    EXPECT_LT(address(c), address(b)) << "the memory of an unloaded program is free";
    trn_program* const d = load(tensors);
    EXPECT_GE(address(d), address(b) + 4096);
    for (trn_program* const one : {b, c, d, elsewhere}) EXPECT_EQ(trn_program_unload(one), TRN_OK);
}

TEST_F(StubPrograms, ProgramsInMemoryOfTheCallerShareItWithoutOverlap) {
    const auto set = isa::write_program_set(isa::assemble_set(tensors, "test.trn"));
    trn_program_options options{};
    options.memory = trn_hbm_address(device, 0, TRN_HBM_RESERVED_BYTES);
    options.memory_bytes = 6'000;  // for one of them
    trn_program *a = nullptr, *b = nullptr;
    ASSERT_EQ(trn_program_load(device, set.data(), set.size(), &options, &a), TRN_OK);
    EXPECT_EQ(trn_program_load(device, set.data(), set.size(), &options, &b), TRN_NO_MEMORY);
    EXPECT_EQ(trn_program_unload(a), TRN_OK);
    EXPECT_EQ(trn_program_load(device, set.data(), set.size(), &options, &b), TRN_OK);
    EXPECT_EQ(trn_program_unload(b), TRN_OK);
}

TEST_F(StubPrograms, ACoreRunsOneProgramAtATime) {
    trn_program* const a = load(".engine scalar\nwait S[9]>=5 nop\nhalt\n");
    trn_program* const b = load(".engine vector\nhalt\n");
    trn_program* const elsewhere = load(".engine vector\nhalt\n", core + 1);
    ASSERT_EQ(trn_program_start(a), TRN_OK) << trn_last_error(device);
    set_state(TRN_SCALAR_ENGINE, TRN_CORE_ENGINE_WAITING);
    EXPECT_EQ(trn_program_start(b), TRN_BUSY);
    EXPECT_THAT(trn_last_error(device),
                HasSubstr("another program runs there, and a core runs one at a time: the scalar "
                          "engine of core 1 is waiting at pc 0"));
    EXPECT_EQ(trn_program_start(elsewhere), TRN_OK) << trn_last_error(device);

    set_state(TRN_SCALAR_ENGINE, TRN_CORE_ENGINE_HALTED);
    EXPECT_EQ(trn_program_start(b), TRN_OK) << trn_last_error(device);
    trn_program_result result{};
    EXPECT_EQ(trn_program_wait(a, ms, &result), TRN_OK);
    EXPECT_TRUE(result.done) << "a has ended before b began";

    // The slot is b's now: a's end leaves it on.
    set_state(TRN_VECTOR_ENGINE, TRN_CORE_ENGINE_RUNNING);
    const auto opened = chip.log.size();
    EXPECT_EQ(trn_program_unload(a), TRN_OK);
    for (auto n = opened; n < chip.log.size(); ++n) EXPECT_FALSE(chip.log[n].write);
    EXPECT_EQ(trn_program_unload(elsewhere), TRN_OK);
    EXPECT_EQ(trn_program_unload(b), TRN_OK);
}

TEST_F(StubPrograms, APreparedProgramIsPreparedAgainAfterAnotherOne) {
    trn_program* const a = load(".engine scalar\nhalt\n");
    trn_program* const b = load(".engine scalar\nhalt\n");
    ASSERT_EQ(trn_program_prepare(a), TRN_OK) << trn_last_error(device);
    const auto base = chip.bar0[control(TRN_SCALAR_ENGINE, TRN_SEQUENCER_PROGRAM_LO_OFFSET)];
    ASSERT_EQ(trn_program_prepare(b), TRN_OK) << trn_last_error(device);
    EXPECT_NE(chip.bar0[control(TRN_SCALAR_ENGINE, TRN_SEQUENCER_PROGRAM_LO_OFFSET)], base);
    ASSERT_EQ(trn_program_start(a), TRN_OK) << trn_last_error(device);
    EXPECT_EQ(chip.bar0[control(TRN_SCALAR_ENGINE, TRN_SEQUENCER_PROGRAM_LO_OFFSET)], base);
    set_state(TRN_SCALAR_ENGINE, TRN_CORE_ENGINE_HALTED);
    EXPECT_EQ(trn_program_unload(a), TRN_OK);
    EXPECT_EQ(trn_program_unload(b), TRN_OK);
}

TEST_F(StubPrograms, APreparedProgramIsPreparedAgainAfterAReset) {
    trn_program* const program = load(".engine scalar\nhalt\n");
    ASSERT_EQ(trn_program_prepare(program), TRN_OK) << trn_last_error(device);
    auto& base = chip.bar0[control(TRN_SCALAR_ENGINE, TRN_SEQUENCER_PROGRAM_LO_OFFSET)];
    const auto before = std::exchange(base, 0);
    ASSERT_EQ(trn_reset_cores(device, 1u << core), TRN_OK) << trn_last_error(device);
    ASSERT_EQ(trn_program_start(program), TRN_OK) << trn_last_error(device);
    EXPECT_EQ(base, before);
    set_state(TRN_SCALAR_ENGINE, TRN_CORE_ENGINE_HALTED);
    EXPECT_EQ(trn_program_unload(program), TRN_OK);
}

TEST_F(StubPrograms, AnUnloadAfterAResetLeavesTheQueuesAlone) {
    const auto set = isa::write_program_set(isa::assemble_set(R"(
.tensor x int32 [128, 1] in
.transfer load x -> sbuf[0:128, 0] queue=3 S[4]
.engine sync
dma_start load
halt
)",
                                                              "test.trn"));
    trn_program_options options{};
    options.core = core;
    options.completion = TRN_WAIT_BY_POLLING;
    trn_program* program = nullptr;
    ASSERT_EQ(trn_program_load(device, set.data(), set.size(), &options, &program), TRN_OK);
    ASSERT_EQ(trn_program_prepare(program), TRN_OK) << trn_last_error(device);
    ASSERT_EQ(trn_reset_cores(device, 1u << core), TRN_OK) << trn_last_error(device);
    trn_ring_request others{};  // of the first DMA engine of the core
    others.engine = core * 16;
    others.queue = 3;
    others.m2s_base = trn_hbm_address(device, 0, TRN_HBM_RESERVED_BYTES);
    others.s2m_base = others.m2s_base + 4096;
    others.m2s_length = others.s2m_length = 64;
    ASSERT_EQ(trn_ring_init_batch(device, &others, 1), TRN_OK) << trn_last_error(device);
    chip.log.clear();
    EXPECT_EQ(trn_program_unload(program), TRN_OK);
    for (const auto& a : chip.log) EXPECT_FALSE(a.write) << std::hex << a.offset;
}

TEST_F(StubPrograms, ImagesAreWrittenAgainAfterAProbe) {
    trn_program* const program = load(".engine scalar\nhalt\n");
    const auto accesses = [&] {
        chip.log.clear();
        EXPECT_EQ(trn_program_prepare(program), TRN_OK) << trn_last_error(device);
        return chip.log.size();
    };
    accesses();
    const auto unchanged = accesses();
    ASSERT_EQ(trn_probe(device), TRN_OK) << trn_last_error(device);
    ASSERT_EQ(trn_reset_device(device), TRN_OK) << trn_last_error(device);
    EXPECT_GT(accesses(), unchanged);
    EXPECT_EQ(accesses(), unchanged);
    EXPECT_EQ(trn_program_unload(program), TRN_OK);
}

TEST_F(StubPrograms, EventsAndNumberSettingsAreClearedBeforeEachStart) {
    trn_program* const program = load(".engine sync\nwait E[3]==1 update S[4]+=1 nop\nhalt\n");
    for (int run = 0; run < 2; ++run) {
        chip.log.clear();
        ASSERT_EQ(trn_program_start(program), TRN_OK) << trn_last_error(device);
        using testing::ElementsAre;
        EXPECT_THAT(written(sync + TRN_SEMAPHORES_EVENT_OFFSET(3)), ElementsAre(0u));
        EXPECT_THAT(written(sync + TRN_SEMAPHORES_SEMAPHORE_SET_OFFSET(4)), ElementsAre(0u));
        EXPECT_THAT(written(control(TRN_SYNC_ENGINE, TRN_SEQUENCER_FP_CONFIG_OFFSET)),
                    ElementsAre(0u));
        EXPECT_THAT(written(control(TRN_SYNC_ENGINE, TRN_SEQUENCER_SEED_OFFSET)), ElementsAre(0u));
        set_state(TRN_SYNC_ENGINE, TRN_CORE_ENGINE_HALTED);
    }
    EXPECT_EQ(trn_program_unload(program), TRN_OK);
}

TEST_F(StubPrograms, AProgramMayOutliveItsDevice) {
    trn_program* const a = load(tensors);
    trn_program* const b = load(tensors);
    trn_destroy(device);
    device = nullptr;
    trn_program_free(a);
    trn_program_free(b);
}

TEST_F(StubPrograms, RingsOfGeneratedDescriptorsAreBounded) {
    std::string text = ".engine sync\n";
    for (unsigned queue = 0; queue < 5; ++queue)
        text += "dge_copy engines=0xffff queue=" + std::to_string(queue) +
                " semaphore=1 piece=1 source=@sbuf [65535:1, 65535:1] destination=@sbuf [65535:1, "
                "65535:1]\n";
    const auto set = isa::write_program_set(isa::assemble_set(text + "halt\n", "test.trn"));
    const trn_program_options options{};
    trn_program* program = nullptr;
    EXPECT_EQ(trn_program_load(device, set.data(), set.size(), &options, &program), TRN_NO_MEMORY);
    EXPECT_THAT(trn_last_error(device),
                HasSubstr("dge_copy: room for 5263520 descriptors for core 0"));
}

TEST_F(StubPrograms, ATensorWhoseSizeWrapsIsRefused) {
    auto set = isa::assemble_set(".tensor x fp32 [1, 1] in\n.engine sync\nhalt\n", "test.trn");
    set.tensors[0].shape = {2147418113, 2147549185};  // 2^64 + 4 bytes
    const auto file = isa::write_program_set(set);
    trn_program* program = nullptr;
    EXPECT_EQ(trn_program_load(device, file.data(), file.size(), nullptr, &program),
              TRN_INVALID_ARGUMENT);
    EXPECT_THAT(trn_last_error(device), HasSubstr("not 1 byte to 1 TiB"));
}

}  // namespace
}  // namespace trn::test

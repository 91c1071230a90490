// SPDX-License-Identifier: Apache-2.0
// Programs of NeuronCores, loaded by trn_program.h: NeuronCore spec 5.3, 10 and 11.
#include <gmock/gmock.h>

#include <cstdio>
#include <cstring>
#include <numeric>
#include <string_view>

#include "models/neuron_isa/assembler/assembler.h"
#include "sw-stubs/host/programs/loaded_program.h"
#include "tests/integration/driver_contract/contract_fixture.h"

namespace trn::test {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t ms = 1'000'000;

std::vector<std::uint8_t> set_of(std::string_view text) {
    return isa::write_program_set(isa::assemble_set(text, "test.trn"));
}

trn_program_options on_core(std::uint32_t core) {
    trn_program_options options{};
    options.core = core;
    return options;
}

/// y = x + x + bias; DMA copies rows of x to partitions, and a row of bias to all of them.
const auto sums = set_of(R"(
.tensor x int32 [100, 24] in
.tensor bias int32 [24] in
.tensor y int32 [100, 24] out
.transfer load x -> sbuf[0:100, 64] queue=3 S[4]
.transfer load_bias bias -> sbuf[0:100, 1024] broadcast queue=3 S[4]
.transfer store sbuf[0:100, 512] -> y queue=3 S[5]
.engine sync
    dma_start load
    dma_start load_bias
    wait S[6]>=1 dma_start store
    wait S[5]>=16 nop
    halt code=11
.engine gpsimd
    wait S[4]>=32 tensor_tensor op0=add dst=sbuf[0:100, 512] int32 [24:1] a=sbuf[0:100, 64] int32 [24:1] b=sbuf[0:100, 64] int32 [24:1]
    update S[6]+=1 tensor_tensor op0=add dst=sbuf[0:100, 512] int32 [24:1] a=sbuf[0:100, 512] int32 [24:1] b=sbuf[0:100, 1024] int32 [24:1]
    halt code=22
)");

std::vector<std::uint8_t> bytes_of(const std::vector<std::int32_t>& numbers) {
    std::vector<std::uint8_t> bytes(numbers.size() * 4);
    std::memcpy(bytes.data(), numbers.data(), bytes.size());
    return bytes;
}

void expect_sums(device& chip, const trn_program_options& options) {
    const loaded_program program(chip, sums, options);
    std::vector<std::int32_t> x(100 * 24), bias(24), expected;
    for (int run = 0; run < 2; ++run) {  // the second run registers the rings again
        std::iota(x.begin(), x.end(), 1000 * run);
        std::iota(bias.begin(), bias.end(), -7);
        expected.clear();
        for (std::size_t i = 0; i < x.size(); ++i) expected.push_back(2 * x[i] + bias[i % 24]);
        program.write(program.find("x"), bytes_of(x));
        program.write(program.find("bias"), bytes_of(bias));
        const trn_program_result result = program.run(100 * ms);
        EXPECT_TRUE(result.done);
        EXPECT_EQ(program.read(program.find("y")), bytes_of(expected));
        if (options.completion == TRN_WAIT_BY_NOTIFICATION) {
            EXPECT_EQ(result.codes[0][TRN_SYNC_ENGINE], 11u);
            EXPECT_EQ(result.codes[0][TRN_GPSIMD_ENGINE], 22u);
        }
    }
}

TEST_P(DriverContract, RunsAProgramTwiceAndNoticesItsEndByNotification) {
    drive([&](device& chip) { expect_sums(chip, {}); });
}

TEST_P(DriverContract, RunsAProgramWithControlBlocksByDmaAndPolls) {
    drive([&](device& chip) {
        auto options = on_core(chip.info().cores - 1);
        options.control = TRN_CONTROL_BY_DMA;
        options.completion = TRN_WAIT_BY_POLLING;
        expect_sums(chip, options);
    });
}

TEST_P(DriverContract, BindsTensorsToHostMemoryAndToAddressesOfTheCaller) {
    drive([&](device& chip) {
        const loaded_program program(chip, sums, on_core(1));
        const host_buffer x(chip, 9600);
        std::vector<std::int32_t> numbers(2400, 21);
        std::memcpy(x.bytes().data(), numbers.data(), 9600);
        const std::uint64_t y = trn_hbm_address(chip, 1, TRN_HBM_RESERVED_BYTES + 4096);
        chip.check(trn_program_bind(program.get(), 0, x.address()));
        chip.check(trn_program_bind(program.get(), 2, y));
        EXPECT_EQ(trn_program_bind(program.get(), 2, y + 4), TRN_INVALID_ARGUMENT);
        program.write(program.find("bias"), std::vector<std::uint8_t>(96));
        program.run(100 * ms);
        std::vector<std::uint8_t> found(9600);
        chip.check(trn_read(chip, 0, found.data(), y, found.size()));
        EXPECT_EQ(found, bytes_of(std::vector<std::int32_t>(2400, 42)));
    });
}

TEST_P(DriverContract, ReportsTheEngineThatFailsWithItsSourceLine) {
    drive([&](device& chip) {
        const loaded_program program(
            chip,
            set_of(".engine vector\nnop\ncopy dst=sbuf[1:2, 0] fp32 [1:1] a=sbuf[0:1, 0] "
                   "fp32 [1:1]\nhalt\n.engine sync\nwait S[3]>=1 halt\n"),
            {});
        chip.check(trn_program_start(program.get()));
        trn_program_result result{};
        EXPECT_EQ(trn_program_wait(program.get(), 100 * ms, &result), TRN_ABORTED);
        EXPECT_THAT(trn_last_error(chip),
                    HasSubstr("the vector engine of core 0 failed at pc 1 (test.trn:3): "
                              "BAD_OPERAND in dst"));
        EXPECT_EQ(result.error, 2u);
        EXPECT_EQ(result.error_pc, 1u);
        EXPECT_EQ(result.line, 3u);
        EXPECT_FALSE(result.done);  // the other engine continues
        EXPECT_EQ(trn_program_start(program.get()), TRN_BUSY);
        EXPECT_EQ(trn_program_wait(program.get(), ms, &result), TRN_ABORTED);
    });
}

/// Composing the message takes long enough for several of these waits to end.
TEST_P(DriverContract, DoesNotReportAWaitWithTheSemaphoreOfALaterOne) {
    std::string text = ".engine sync\n.repeat n 400\ndelay cycles=600\nupdate S[9]+=1 nop\n.end\n";
    text += ".engine scalar\n.repeat n 400\nwait S[9]>={n+1} nop\n.end\nhalt\n";
    drive([&](device& chip) {
        const loaded_program program(chip, set_of(text), {});
        chip.check(trn_program_start(program.get()));
        trn_program_result result{};
        EXPECT_EQ(trn_program_wait(program.get(), 20'000, &result), TRN_TIMED_OUT);
        int wanted = 0, found = 0;
        const char* wait = std::strstr(trn_last_error(chip), "for value ");
        if (wait == nullptr) return;  // the engine was between two waits
        ASSERT_EQ(std::sscanf(wait, "for value %d of semaphore 9, which is %d", &wanted, &found),
                  2);
        EXPECT_LT(found, wanted) << trn_last_error(chip);
    });
}

TEST_P(DriverContract, ReportsWhatAnEngineWaitsForWhenTheTimeIsOver) {
    drive([&](device& chip) {
        const loaded_program program(
            chip, set_of(".engine scalar\nupdate S[9]+=2 nop\nwait S[9]>=5 halt\n"), on_core(1));
        chip.check(trn_program_start(program.get()));
        trn_program_result result{};
        EXPECT_EQ(trn_program_wait(program.get(), ms, &result), TRN_TIMED_OUT);
        EXPECT_THAT(trn_last_error(chip),
                    HasSubstr("the scalar engine of core 1 is waiting at pc 1 (test.trn:3) for "
                              "value 5 of semaphore 9, which is 2"));
        trn_core_engine_state state{};
        chip.check(trn_core_engine_read(chip, 1, TRN_SCALAR_ENGINE, &state));
        EXPECT_EQ(state.mode, TRN_CORE_ENGINE_WAITING);
        EXPECT_EQ(state.pc, 1u);
        EXPECT_EQ(state.retired, 1u);
        EXPECT_EQ(state.instruction[0], 0x02);  // HALT
        chip.check(trn_semaphore_set(chip, TRN_SYNC_CORE, 1, 9, 5));
        EXPECT_EQ(trn_program_wait(program.get(), ms, &result), TRN_OK);
        EXPECT_TRUE(result.done);
    });
}

TEST_P(DriverContract, TwoCoresWaitForEachOtherByAddressesOfTheirSemaphores) {
    drive([&](device& chip) {
        const loaded_program program(chip, set_of(R"(
.tensor out int32 [2] out
.engine sync
    write @core1.S[7].4=1
    wait S[7]>=1 reg_move rd=R1 imm=5
    reg_store ra=R1 type=int32 address=@out
    halt code=1
.core 1
.engine sync
    wait S[7]>=1 write @core0.S[7].4=1
    reg_move rd=R1 imm=6
    reg_store ra=R1 type=int32 address=@out+4
    halt code=2
)"),
                                     {});
        const trn_program_result result = program.run(100 * ms);
        EXPECT_EQ(result.codes[0][TRN_SYNC_ENGINE], 1u);
        EXPECT_EQ(result.codes[1][TRN_SYNC_ENGINE], 2u);
        EXPECT_EQ(program.read(program.find("out")), bytes_of({5, 6}));
    });
}

/// y[0] = x[0] + 1 by the GPSIMD engine.
const auto increment = set_of(R"(
.tensor x int32 [1] in
.tensor y int32 [1] out
.engine gpsimd
    reg_load rd=R1 type=int32 address=@x
    reg_alu op=add rd=R1 ra=R1 imm=1
    reg_store ra=R1 type=int32 address=@y
    halt code=3
)");

TEST_P(DriverContract, LoadedProgramsOfACoreHaveSeparateMemory) {
    drive([&](device& chip) {
        const loaded_program a(chip, increment, on_core(1));
        const loaded_program b(chip, increment, on_core(1));
        a.write(a.find("x"), bytes_of({10}));
        b.write(b.find("x"), bytes_of({20}));
        for (int run = 0; run < 2; ++run) {
            a.run(100 * ms);
            b.run(100 * ms);
            EXPECT_EQ(a.read(a.find("y")), bytes_of({11}));
            EXPECT_EQ(b.read(b.find("y")), bytes_of({21}));
        }
        std::uint64_t first = 0;
        {
            const loaded_program c(chip, increment, on_core(1));
            first = c.find("x").address;
            EXPECT_GT(first, b.find("x").address);
        }
        const loaded_program d(chip, increment, on_core(1));
        EXPECT_EQ(d.find("x").address, first) << "the memory of an unloaded program is free";
    });
}

TEST_P(DriverContract, ACoreRunsOneProgramAtATime) {
    drive([&](device& chip) {
        auto a = std::make_unique<loaded_program>(
            chip, set_of(".engine scalar\nwait S[9]>=5 nop\nhalt code=8\n"), on_core(1));
        const loaded_program b(chip, set_of(".engine vector\nwait S[8]>=5 nop\nhalt code=9\n"),
                               on_core(1));
        chip.check(trn_program_start(a->get()));
        EXPECT_EQ(trn_program_start(b.get()), TRN_BUSY);
        EXPECT_THAT(trn_last_error(chip),
                    HasSubstr("another program runs there, and a core runs one at a time: the "
                              "scalar engine of core 1 is"));
        chip.check(trn_semaphore_set(chip, TRN_SYNC_CORE, 1, 9, 5));
        trn_program_result result{};
        chip.check(trn_program_wait(a->get(), 100 * ms, &result));
        EXPECT_EQ(result.codes[0][TRN_SCALAR_ENGINE], 8u);

        // a's slot is b's now: its unload leaves b's notifications on.
        chip.check(trn_program_start(b.get()));
        a.reset();
        chip.check(trn_semaphore_set(chip, TRN_SYNC_CORE, 1, 8, 5));
        chip.check(trn_program_wait(b.get(), 100 * ms, &result));
        EXPECT_EQ(result.codes[0][TRN_VECTOR_ENGINE], 9u);
    });
}

TEST_P(DriverContract, EventsOfAProgramStartClear) {
    drive([&](device& chip) {
        // Sync must not read y before Scalar has written it.
        const loaded_program program(chip, set_of(R"(
.tensor y int32 [1] inout
.tensor z int32 [1] out
.engine scalar
    delay cycles=12000
    reg_move rd=R1 imm=7
    reg_store ra=R1 type=int32 address=@y
    update E[3]=1 nop
    halt
.engine sync
    wait E[3]==1 reg_load rd=R2 type=int32 address=@y
    reg_store ra=R2 type=int32 address=@z
    halt
)"),
                                     {});
        for (int run = 0; run < 2; ++run) {
            program.write(program.find("y"), bytes_of({0}));
            program.run(100 * ms);
            EXPECT_EQ(program.read(program.find("z")), bytes_of({7}));
        }
    });
}

TEST_P(DriverContract, NumberSettingsOfAProgramDoNotStayForTheNext) {
    const auto converts = [](const char* first) {
        return set_of(
            std::string(".tensor y fp16 [1, 1] out\n"
                        ".transfer store sbuf[0:1, 64] -> y S[5]\n.engine sync\n") +
            first +
            "    update S[4]+=1 nop\n"
            "    wait S[6]>=1 dma_start store\n    wait S[5]>=16 halt\n"
            ".engine gpsimd\n"
            "    wait S[4]>=1 update S[6]+=1 memset dst=sbuf[0:1, 64] fp16 [1:1] imm=1e6\n"
            "    halt\n");
    };
    drive([&](device& chip) {
        const loaded_program saturates(chip, converts("    write @control.gpsimd+0x28.4=2\n"), {});
        const loaded_program plain(chip, converts(""), {});
        saturates.run(100 * ms);
        EXPECT_EQ(saturates.read(saturates.find("y")), (std::vector<std::uint8_t>{0xff, 0x7b}));
        plain.run(100 * ms);
        EXPECT_EQ(plain.read(plain.find("y")), (std::vector<std::uint8_t>{0x00, 0x7c}));
    });
}

TEST_P(DriverContract, RefusesATensorWhoseSizeWraps) {
    auto set = isa::assemble_set(".tensor x fp32 [1, 1] in\n.engine sync\nhalt\n", "test.trn");
    set.tensors[0].shape = {2147418113, 2147549185};  // 2^64 + 4 bytes
    const auto file = isa::write_program_set(set);
    drive([&](device& chip) {
        trn_program* program = nullptr;
        EXPECT_EQ(trn_program_load(chip, file.data(), file.size(), nullptr, &program),
                  TRN_INVALID_ARGUMENT);
        EXPECT_THAT(trn_last_error(chip), HasSubstr("not 1 byte to 1 TiB"));
    });
}

TEST_P(DriverContract, RefusesProgramsThatDoNotFitTheChip) {
    drive([&](device& chip) {
        trn_program* program = nullptr;
        const auto load = [&](const std::vector<std::uint8_t>& set, trn_program_options options) {
            return trn_program_load(chip, set.data(), set.size(), &options, &program);
        };
        const auto other = chip.info().architecture == 4 ? ".generation v3\n" : ".generation v4\n";
        EXPECT_EQ(load(set_of(std::string(other) + ".engine sync\nhalt\n"), {}), TRN_NOT_SUPPORTED);
        EXPECT_EQ(load(sums, on_core(chip.info().cores)), TRN_INVALID_ARGUMENT);
        trn_program_options small{};
        small.memory = trn_hbm_address(chip, 0, TRN_HBM_RESERVED_BYTES);
        small.memory_bytes = 4096;
        EXPECT_EQ(load(sums, small), TRN_NO_MEMORY);
        EXPECT_EQ(load(set_of(".core 1\n.engine sync\nhalt\n"), on_core(chip.info().cores - 1)),
                  TRN_INVALID_ARGUMENT);
        auto damaged = sums;
        damaged[20] ^= 1;
        EXPECT_EQ(load(damaged, {}), TRN_INVALID_ARGUMENT);
        EXPECT_THAT(trn_last_error(chip), HasSubstr("its header says"));
        EXPECT_EQ(program, nullptr);
    });
}

}  // namespace
}  // namespace trn::test

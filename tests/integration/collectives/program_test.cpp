// SPDX-License-Identifier: Apache-2.0
// Collectives started and awaited by engines, while they compute.
#include <fmt/format.h>

#include <bit>

#include "tests/integration/collectives/group.h"
#include "tests/support/engine_program.h"
#include "tests/support/sizes.h"

namespace trn::test {
namespace {

class ProgramCollectives : public CollectiveTest {
protected:
    using reg = host_engine::reg;
    static constexpr std::uint32_t done = 20, operands = 21;     // semaphores of core 0
    static constexpr unsigned began = 10, ended = 11, left = 1;  // registers

    /// Work of a Tensor engine between START and HALT.
    struct work {
        bool collective = false;
        unsigned multiplies = 0;
    };

    void SetUp() override {
        boot("trn3-sled");
        group_.emplace(*this, all(), image());
    }

    /// WRITE instructions with up to three triggers each.
    static std::string writes(std::span<const trn_coll_trigger> triggers) {
        std::string text;
        for (std::size_t n = 0; n < triggers.size(); ++n)
            text += fmt::format("{} {:#x}.4={}", n % 3 == 0 ? "\nwrite" : "", triggers[n].address,
                                triggers[n].value);
        return text + "\n";
    }
    /// Vector writes the operands; Tensor starts the collective, multiplies, and waits for it.
    static void start_programs(device& on, std::span<const trn_coll_trigger> triggers,
                               const work& request) {
        host_engine(on, isa::engine::vector)
            .start(fmt::format(
                "update S[{}]+=1 memset dst=sbuf[0:128, 0] bf16 [512:1] imm=1.0\nhalt", operands));
        std::string text =
            fmt::format("wait S[{}]>=1:subtract rank rd=R{} what=ns_low\n", operands, began);
        if (request.collective) text += writes(triggers);
        if (request.multiplies != 0)
            text += fmt::format(
                "reg_move rd=R{0} imm=0\n"
                "load_stationary a=sbuf[0:128, 0] bf16 [128:1]\n"
                "again: multiply dst=psum[0:128, 0] fp32 [512:1] a=sbuf[0:128, 0] bf16 [512:1]\n"
                "loop rd=R{0} step=1 imm={1} target=again\n",
                left, request.multiplies);
        if (request.collective)
            text += fmt::format("wait S[{}]>={}:subtract nop\n", done, triggers.size());
        text += fmt::format("drain\nrank rd=R{} what=ns_low\nhalt", ended);
        host_engine(on, isa::engine::tensor).start(text);
    }
    static void wait_for_halt(device& on, isa::engine e = isa::engine::tensor) {
        const host_engine engine(on, e);
        EXPECT_TRUE(engine.ends());
        EXPECT_EQ(engine.state(), host_engine::halted);
    }
    /// Simulated time of the slowest rank's Tensor engine, in ns.
    double took(device& on, double longest) {
        const host_engine tensor(on, isa::engine::tensor);
        const double ns =
            static_cast<double>(tensor.get(reg::r, ended)) - tensor.get(reg::r, began);
        return std::max(ns, longest);
    }

    collective_request engine_started(std::uint64_t bytes, unsigned multiplies) {
        collective_request request{.op = TRN_COLL_ALL_REDUCE, .bytes = bytes, .check = true};
        request.done = {.core = 0, .index = done};
        request.start_by = [multiplies](std::uint32_t, device& on,
                                        std::span<const trn_coll_trigger> triggers) {
            start_programs(on, triggers, {.collective = true, .multiplies = multiplies});
        };
        return request;
    }
    double run(std::uint64_t bytes, unsigned multiplies) {
        auto wanted = engine_started(bytes, multiplies);
        double longest = 0;
        wanted.meanwhile = [&](std::uint32_t, device& on) {
            wait_for_halt(on);
            longest = took(on, longest);
        };
        expect_right(group_->run(wanted));
        return longest;
    }
    double multiply(unsigned multiplies) {
        double longest = 0;
        run_each(all(), [&](std::size_t, device& on) {
            start_programs(on, {}, {.multiplies = multiplies});
            wait_for_halt(on);
            longest = took(on, longest);
        });
        return longest;
    }

    std::optional<collective_group> group_;
};

TEST_F(ProgramCollectives, AnAllReduceOverlapsWithTheMatmulsOfTheEnginesThatStartIt) {
    constexpr std::uint64_t bytes = 1 * MiB;
    constexpr unsigned multiplies = 100;
    const double matmuls = multiply(multiplies), all_reduce = run(bytes, 0),
                 both = run(bytes, multiplies);
    EXPECT_NEAR(matmuls, multiplies * 512 / 2.4, 300);  // 512 cycles of 2.4 GHz each
    EXPECT_GT(all_reduce, 5'000);
    EXPECT_GE(both, std::max(matmuls, all_reduce));
    EXPECT_LT(both, 1.1 * std::max(matmuls, all_reduce)) << "of " << matmuls << ", " << all_reduce;
    run_each(all(), [](std::size_t, device& on) {
        std::uint32_t bits = 0;
        std::int32_t value = -1;
        for (const std::uint64_t element : {0, 511, 127 * 4096}) {  // partitions 0 and 127
            const auto offset = neuron_core::psum_offset + 4 * element;
            on.check(trn_bar_read(on, host_engine::cores_at + offset, &bits));
            EXPECT_EQ(std::bit_cast<float>(bits), 128.0f);
        }
        on.check(trn_semaphore_read(on, TRN_SYNC_CORE, 0, done, &value));
        EXPECT_EQ(value, 0) << "the wait took what each channel had added";
    });
}

TEST_F(ProgramCollectives, EachRunNeedsItsTriggersOnly) {
    auto wanted = engine_started(64 * KiB, 0);
    wanted.iterations = 3;
    wanted.meanwhile = [](std::uint32_t, device& on) { wait_for_halt(on); };
    expect_right(group_->run(wanted));
}

TEST_F(ProgramCollectives, AProgramRunsACollectiveSeveralTimesWithoutItsHost) {
    collective_request request{.op = TRN_COLL_ALL_GATHER, .bytes = 64 * KiB, .check = true};
    request.done = {.core = 3, .index = 255};
    request.start_by = [](std::uint32_t, device& on, std::span<const trn_coll_trigger> triggers) {
        // The semaphore belongs to another core, so the engine polls it: contract 3.3.
        const auto read = trn_semaphore_address(on, 3, 255) - 0x800;
        host_engine(on, isa::engine::sync)
            .start(fmt::format("reg_move rd=R1 imm=0\nreg_move rd=R3 imm=0\nonce: {0}poll: "
                               "reg_load rd=R2 type=uint32 address={1:#x}\n"
                               "reg_alu op=add rd=R4 ra=R3 imm={2}\n"
                               "branch if=lt ra=R2 rb=R4 target=poll\n"
                               "reg_move rd=R3 ra=R4\n"
                               "loop rd=R1 step=1 imm=5 target=once\nhalt",
                               writes(triggers), read, triggers.size()));
    };
    request.meanwhile = [](std::uint32_t, device& on) {
        wait_for_halt(on, isa::engine::sync);
        trn_cc_slot slot{};
        on.check(trn_cc_slot_state(on, 0, 0, &slot));
        EXPECT_EQ(slot.runs, 5u);
    };
    expect_right(group_->run(request));
}

TEST_F(ProgramCollectives, AMissingRankTimesOutTheEnginesThatWait) {
    auto wanted = engine_started(64 * KiB, 0);
    wanted.limit_ns = 200'000;
    const auto start_by = wanted.start_by;
    wanted.start_by = [=](std::uint32_t rank, device& on,
                          std::span<const trn_coll_trigger> triggers) {
        host_engine(on, isa::engine::tensor).set(reg::wait_limit, 300);
        start_by(rank, on, triggers);
    };
    const auto ends = group_->run_without(1, wanted);
    for (const std::size_t rank : {0, 2, 3}) {
        EXPECT_EQ(ends[rank].status, TRN_ABORTED);
        EXPECT_EQ(ends[rank].failure.code, TRN_CC_CODE_STUCK);
    }
    run_each({0, 2, 3}, [](std::size_t, device& on) {
        on.check(trn_sleep(on, 400'000));
        const host_engine tensor(on, isa::engine::tensor);
        EXPECT_EQ(tensor.state(), host_engine::failed);
        EXPECT_EQ(tensor.error(), static_cast<unsigned>(isa::error::timeout));
    });
}

TEST_F(ProgramCollectives, ASemaphoreThatDoesNotExistIsRefused) {
    collective_request request{.op = TRN_COLL_BARRIER};
    request.done = {.core = 8, .index = 0};
    EXPECT_EQ(sentence(*group_, request), "there is no semaphore 0 of core 8");
    request.done = {.core = 0, .index = 256};
    EXPECT_EQ(sentence(*group_, request), "there is no semaphore 256 of core 0");
}

}  // namespace
}  // namespace trn::test

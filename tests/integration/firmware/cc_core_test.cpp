// SPDX-License-Identifier: Apache-2.0
// The collective firmware on a CC-Core; the test acts as the host and as the network card.
#include <cstring>

#include "models/processor/top_sp/cc_core_regs.h"
#include "models/processor/top_sp/cc_mailbox_regs.h"
#include "models/processor/top_sp/cc_program_regs.h"
#include "models/processor/top_sp/top_sp.h"
#include "models/soc/semaphores/semaphores_regs.h"
#include "tests/integration/firmware/management_fixture.h"

extern "C" {
#define _Static_assert static_assert
#include "firmware/lib/crc32c.h"
}

namespace {

using namespace trn;
using test::tlm_driver;
namespace program = cc_program_regs;
namespace op = program::step_op;

struct step {
    std::uint64_t code, which = 0, with = 0;
    std::uint32_t count = 0;
    std::uint64_t address = 0;
};

struct CcCore : testing::Test {
    using box = cc_mailbox_regs::reg;
    using control = cc_core_regs::reg;
    static constexpr std::uint32_t first_semaphore = 8, semaphores = 8;
    static constexpr std::uint64_t word_at = 0x8000;      // RAM: target of POST
    static constexpr std::uint64_t completions = 0x3000;  // RAM: ring of the card

    tlm_driver host{"host"}, registers{"registers"};
    top_sp core{"core", {}};
    memory ram{"ram", {.size = 1 << 20}};
    irq_out reset{"reset"};

    void SetUp() override {
        host.out.bind(core.aperture);
        registers.out.bind(core.registers);
        core.memory.bind(ram.in);
        reset.bind(core.reset);
        run(0);
        const auto image = test::read_firmware("cc_core.bin");
        std::memcpy(core.bytes().data() + MAP_CC_INSTRUCTIONS, image.data(), image.size());
        set(control::control, cc_core_regs::control::run.mask());
        ASSERT_TRUE(
            run_until([&] { return get(box::magic) == cc_mailbox_regs::magic::word_value; }));
    }
    static void run(double us) { sc_core::sc_start(sc_core::sc_time(us, sc_core::SC_US)); }
    template <class Condition>
    static bool run_until(const Condition& condition, unsigned limit_us = 1000) {
        for (unsigned us = 0; us < limit_us && !condition(); ++us) run(1);
        return condition();
    }
    std::uint32_t get(box r, unsigned index = 0) {
        return host.read(MAP_CC_DATA + cc_mailbox_regs::offset(r, index));
    }
    void set(control r, std::uint32_t value, unsigned index = 0) {
        host.write(top_sp::control_offset + cc_core_regs::offset(r, index), value);
    }
    void command(std::uint64_t what, std::uint32_t argument = 0) {
        host.write(MAP_CC_DATA + cc_mailbox_regs::offset(box::argument), argument);
        host.write(MAP_CC_DATA + cc_mailbox_regs::offset(box::command),
                   static_cast<std::uint32_t>(what));
        set(control::doorbell, 1);
    }
    bool is_done() { return get(box::command) == 0; }
    void trigger() { set(control::doorbell, 1u << 8); }
    std::uint32_t state() { return get(box::slot_state); }

    /// Loads a program into slot 0. With `network` it has the queue pair of a card and one request.
    void load(const std::vector<step>& steps, std::uint64_t limit = 0, bool network = false) {
        const std::size_t first = program::offset(program::reg::step_op, 0);
        std::vector<std::uint8_t> bytes(first + steps.size() * 16 + (network ? 64 : 0));
        const auto put = [&](program::reg r, std::uint64_t value, unsigned index = 0) {
            const auto word = static_cast<std::uint32_t>(value);
            std::memcpy(&bytes[program::offset(r, index)], &word, sizeof word);
        };
        put(program::reg::magic, program::magic::word_value);
        put(program::reg::format, program::format::number_value);
        put(program::reg::length, bytes.size());
        put(program::reg::ranks, 1);
        put(program::reg::steps, steps.size());
        put(program::reg::limit_lo, limit);
        put(program::reg::limit_hi, limit >> 32);
        put(program::reg::semaphores, first_semaphore | semaphores << 16);
        for (unsigned n = 0; n < steps.size(); ++n) {
            const step& s = steps[n];
            put(program::reg::step_op, s.code | s.which << 8 | s.with << 16, n);
            put(program::reg::step_count, s.count, n);
            put(program::reg::step_lo, s.address, n);
        }
        if (network) {
            put(program::reg::requests, 1);
            put(program::reg::net_ring_lo, 0x1000);
            put(program::reg::net_send_doorbell_lo, 0x2000);
            put(program::reg::net_completions_lo, completions);
            put(program::reg::net_cq_doorbell_lo, 0x4000);
            put(program::reg::net_eq_doorbell_lo, 0x5000);
            put(program::reg::net_depths, 16 | 16 << 16);
            put(program::reg::net_semaphores,
                first_semaphore | (first_semaphore + 1) << 8 | 4 << 16);
            const std::uint32_t handle = 9;
            std::memcpy(&bytes[bytes.size() - 64 + 0xc], &handle, sizeof handle);
        }
        put(program::reg::crc, crc32c(bytes.data(), bytes.size()));
        for (std::size_t n = 0; n < bytes.size(); n += 4) {
            std::uint32_t word = 0;
            std::memcpy(&word, &bytes[n], sizeof word);
            host.write(MAP_CC_PROGRAMS + n, word);
        }
        command(cc_mailbox_regs::command::op_load, static_cast<std::uint32_t>(bytes.size()));
        ASSERT_TRUE(run_until([&] { return is_done(); }));
        ASSERT_EQ(get(box::result), 0u);
    }
};

constexpr step end{op::code_end};
const step post{op::code_post, 0, 0, 1, CcCore::word_at};
const step wait{op::code_wait, CcCore::first_semaphore + 1, 0, 1};

TEST_F(CcCore, TriggersBackToBackRunAsOftenAsTheyAreWritten) {
    load({post, end});
    trigger();
    trigger();
    EXPECT_TRUE(run_until([&] { return get(box::slot_runs) == 2; }));
    for (unsigned n = 0; n < 5; ++n) trigger();
    EXPECT_TRUE(run_until([&] { return get(box::slot_runs) == 7; }));
    run(100);
    EXPECT_EQ(get(box::slot_runs), 7u);
}

TEST_F(CcCore, TriggersDuringARunAreCounted) {
    load({wait, end});
    trigger();
    run(20);
    trigger();
    trigger();
    for (unsigned n = 1; n <= 3; ++n) {
        host.write<std::uint32_t>(
            semaphores_regs::offset(semaphores_regs::reg::semaphore_increment, first_semaphore + 1),
            1);
        EXPECT_TRUE(run_until([&] { return get(box::slot_runs) == n; })) << n;
    }
    EXPECT_EQ(state(), cc_mailbox_regs::slot_state::now_loaded);
}

TEST_F(CcCore, LoopWithoutWaitsIsUnloaded) {
    load({post, {op::code_loop, 0, 0, ~0u}, end});
    trigger();
    run(100);
    EXPECT_EQ(state(), cc_mailbox_regs::slot_state::now_running);
    command(cc_mailbox_regs::command::op_unload);
    EXPECT_TRUE(run_until([&] { return is_done(); }, 5000));
    EXPECT_EQ(state(), cc_mailbox_regs::slot_state::now_empty);
    load({post, end});
    trigger();
    EXPECT_TRUE(run_until([&] { return get(box::slot_runs) == 1; }));
}

TEST_F(CcCore, LargestLimitOfAWaitIsNoLimit) {
    load({wait, end}, ~std::uint64_t{0});
    trigger();
    run(500);
    EXPECT_EQ(state(), cc_mailbox_regs::slot_state::now_running);
    host.write<std::uint32_t>(
        semaphores_regs::offset(semaphores_regs::reg::semaphore_increment, first_semaphore + 1), 1);
    EXPECT_TRUE(run_until([&] { return get(box::slot_runs) == 1; }));
}

TEST_F(CcCore, FailedWorkRequestEndsTheRunWithItsStatusAndPeer) {
    load({{op::code_send, 0, 0, 1}, wait, end}, 0, true);
    trigger();
    run(50);
    EXPECT_EQ(state(), cc_mailbox_regs::slot_state::now_running) << "without a limit it waits";
    constexpr std::uint32_t unresponsive = 13;
    const std::uint32_t done = 0 | unresponsive << 16 | 1u << 24 | 1u << 25;
    std::memcpy(ram.bytes().data() + completions, &done, sizeof done);
    host.write<std::uint32_t>(
        semaphores_regs::offset(semaphores_regs::reg::semaphore_increment, first_semaphore), 1);
    EXPECT_TRUE(run_until([&] { return state() == cc_mailbox_regs::slot_state::now_failed; }));
    EXPECT_EQ(get(box::slot_error), cc_mailbox_regs::slot_error::why_network);
    EXPECT_EQ(get(box::slot_value), unresponsive);
    EXPECT_EQ(get(box::slot_peer), 9u);
    EXPECT_EQ(get(box::slot_step), 1u);
}

}  // namespace

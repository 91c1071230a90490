// SPDX-License-Identifier: Apache-2.0
// The hart as a SystemC module: time, idle state, reset.
#include "models/processor/riscv/riscv_hart.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <utility>

#include "models/misuse_rules.h"
#include "platform/framework/misuse/misuse.h"
#include "platform/framework/tlm/blocking_transport.h"
#include "platform/framework/tlm/memory.h"
#include "platform/framework/tlm/router.h"
#include "tests/unit/processor/riscv/machine.h"

namespace trn::riscv::test {

using namespace as;
using sc_core::sc_start;
using sc_core::sc_time;

class RiscvHartTest : public testing::Test {
protected:
    trn::memory ram{"ram", {.size = 1 << 16}};
    riscv_hart dut{"dut", {.reset_vector = 0, .quantum_instructions = 100}};
    irq_out line{"line"}, reset{"reset"};

    RiscvHartTest() {
        dut.bus.bind(ram.in);
        line.bind(dut.irq, riscv_hart::machine_timer);
        reset.bind(dut.reset);
    }
    void program(std::initializer_list<u32> words) {
        std::memcpy(ram.bytes().data(), words.begin(), words.size() * 4);
    }
    /// Runs `action` at this simulated time, as another process.
    void at(const sc_time& time, std::function<void()> action) {
        sc_core::sc_spawn_options on_event;
        on_event.spawn_method();
        on_event.set_sensitivity(&due);
        on_event.dont_initialize();
        sc_core::sc_spawn(std::move(action), "other", &on_event);
        due.notify(time);
    }

private:
    sc_core::sc_event due{"due"};
};

TEST_F(RiscvHartTest, ExecutesOneInstructionPerClock) {
    program({addi(5, 5, 1), jal(0, -4)});
    sc_start(sc_time(10, sc_core::SC_US));
    EXPECT_GE(dut.core().ticks(), 10'000u);
    EXPECT_LT(dut.core().ticks(), 10'000u + 32 * 100 + 64);
}

TEST_F(RiscvHartTest, KernelIsNotAskedAtEveryQuantumWhileNothingElseIsDue) {
    program({addi(5, 5, 1), jal(0, -4)});
    sc_start(sc_time(10, sc_core::SC_US));
    const auto before = sc_core::sc_delta_count();
    sc_start(sc_time(1, sc_core::SC_MS));
    EXPECT_LT(sc_core::sc_delta_count() - before, 2 * 1'000'000 / (32 * 100));
}

TEST_F(RiscvHartTest, EventWithinManyQuantaFindsTheHartAtItsQuantum) {
    program({addi(5, 5, 1), jal(0, -4)});
    std::uint64_t ticks = 0;
    at(sc_time(3'250, sc_core::SC_NS), [&] { ticks = dut.core().ticks(); });
    sc_start(sc_time(10, sc_core::SC_US));
    EXPECT_GE(ticks, 3'250u);
    EXPECT_LT(ticks, 3'400u);
}

TEST_F(RiscvHartTest, ExecutesFromTheEndOfAResetWithinItsQuantum) {
    program({addi(5, 5, 1), jal(0, -4)});
    at(sc_time(3'250, sc_core::SC_NS), [&] {
        reset.set(true);
        reset.set(false);
    });
    sc_start(sc_time(3'251, sc_core::SC_NS));
    EXPECT_GE(dut.core().ticks(), 100u);                        // the quantum from 3,250 ns on
    EXPECT_EQ(dut.core().read_csr(0xb00), dut.core().ticks());  // mcycle: it did not wait
}

TEST_F(RiscvHartTest, UnansweredAccessIsReportedWithItsLocation) {
    constexpr u32 lui_t0_0x20 = 0x000202b7, lw_t1_t0 = 0x0002a303;
    program({lui_t0_0x20, addi(5, 5, 4), lw_t1_t0, wfi});
    dut.core().write_csr(0x305, 12);  // mtvec: the wfi
    sc_start(sc_time(1, sc_core::SC_US));
    ASSERT_EQ(misuse::count(misuse::firmware_bus_error, "dut"), 1u);
    EXPECT_EQ(misuse::summary().at(0).first_detail, "read of 4 bytes at 0x20004");
    EXPECT_EQ(misuse::summary().at(0).first_initiator, "dut, pc 0x8");
}

/// Counts at 10 MHz, plus an offset set by the test.
struct test_clock final : mtime_source {
    u64 offset = 0;
    mutable std::function<void()> written;

    u64 mtime(sc_time at) const override { return at.value() / tick + offset; }
    sc_time time_of(u64 value) const override {
        return sc_time::from_value((value - offset) * tick);
    }
    void on_write(const std::function<void()>& call) const override { written = call; }

private:
    const u64 tick = sc_time(100, sc_core::SC_NS).value();
};

/// A hart with Sstc whose program waits for stimecmp = 50.
class RiscvHartTimerTest : public testing::Test {
protected:
    trn::memory ram{"ram", {.size = 1 << 16}};
    test_clock clock;
    riscv_hart dut{"dut", {.reset_vector = 0, .isa = isa::full()}};

    RiscvHartTimerTest() {
        dut.bus.bind(ram.in);
        dut.set_time_source(clock);
        const u32 words[] = {wfi, addi(5, 5, 1), wfi, jal(0, -4)};
        std::memcpy(ram.bytes().data(), words, sizeof words);
        dut.core().write_csr(0x30a, u64{1} << 63);  // STCE
        dut.core().write_csr(0x304, 1 << 5);
        dut.core().write_csr(0x14d, 50);
    }
};

TEST_F(RiscvHartTimerTest, WaitEndsWhenTimeReachesStimecmp) {
    sc_start(sc_time(5, sc_core::SC_US) - sc_time(1, sc_core::SC_NS));
    EXPECT_EQ(dut.core().read_x(5), 0u);
    EXPECT_TRUE(dut.core().waiting());
    sc_start(sc_time(2, sc_core::SC_NS));
    EXPECT_EQ(dut.core().read_x(5), 1u);
}

TEST_F(RiscvHartTimerTest, WrittenMtimeMovesTheInterrupt) {
    sc_start(sc_time(1, sc_core::SC_US));
    clock.offset = 30;
    clock.written();
    sc_start(sc_time(1, sc_core::SC_US) + sc_time(1, sc_core::SC_NS));
    EXPECT_EQ(dut.core().read_x(5), 1u);
}

TEST_F(RiscvHartTest, WaitingForAnInterruptSchedulesNoEvents) {
    program({wfi, addi(5, 0, 1), wfi, jal(0, -4)});
    dut.core().write_csr(0x304, 1 << 7);
    sc_start(sc_time(1, sc_core::SC_US));
    EXPECT_EQ(dut.state(), "M-mode, waiting for interrupt");
    EXPECT_FALSE(sc_core::sc_pending_activity());
    line.set(true);
    sc_start(sc_time(1, sc_core::SC_US));
    EXPECT_EQ(dut.core().read_x(5), 1u);
    EXPECT_GE(*dut.core().read_csr(0xb00), 1000u) << "cycles passed while it waited";
}

TEST_F(RiscvHartTest, DebuggerStepsAWaitingHartWithoutScheduledEvents) {
    program({wfi, addi(5, 5, 1), wfi, jal(0, -8)});
    dut.core().write_csr(0x304, 1 << 7);
    const auto run = [] { sc_start(sc_time(1, sc_core::SC_US)); };
    run();
    EXPECT_EQ(*dut.read_register(debug_target::pc), 4u);
    dut.resume(true);
    run();
    EXPECT_EQ(dut.core().read_x(5), 1u);
    EXPECT_TRUE(dut.halted());
    dut.resume(false);
    run();
    EXPECT_EQ(*dut.read_register(debug_target::pc), 12u);
    dut.write_register(debug_target::pc, 4);
    run();
    EXPECT_EQ(dut.core().read_x(5), 2u);
    dut.end_wait();
    run();
    EXPECT_EQ(dut.core().read_x(5), 3u);
    EXPECT_EQ(dut.state(), "M-mode, waiting for interrupt");
    EXPECT_GE(*dut.core().read_csr(0xb00), 4000u) << "cycles passed while it waited";
    line.set(true);
    run();
    EXPECT_GT(dut.core().read_x(5), 4u) << "an interrupt still ends the wait";
}

TEST_F(RiscvHartTest, InterruptEnabledByADebuggerEndsTheWait) {
    program({wfi, addi(5, 5, 1), jal(0, 0)});
    line.set(true);
    sc_start(sc_time(1, sc_core::SC_US));
    EXPECT_EQ(dut.core().read_x(5), 0u);
    dut.write_register(debug_target::first_csr + 0x304, 1 << 7);
    sc_start(sc_time(1, sc_core::SC_US));
    EXPECT_EQ(dut.core().read_x(5), 1u);
}

TEST_F(RiscvHartTest, TheInitializationPhaseExecutesNoInstruction) {
    program({addi(5, 0, 7), wfi});
    sc_start(sc_core::SC_ZERO_TIME);
    EXPECT_EQ(dut.core().read_x(5), 0u);
    EXPECT_TRUE(sc_core::sc_pending_activity_at_current_time());
    sc_start(sc_core::SC_ZERO_TIME);
    EXPECT_EQ(dut.core().read_x(5), 7u);
}

TEST_F(RiscvHartTest, HartInResetHasNoStateAndNoEvents) {
    reset.set(true);
    sc_start(sc_time(1, sc_core::SC_US));
    EXPECT_EQ(dut.state(), "in reset");
    EXPECT_FALSE(sc_core::sc_pending_activity());
    program({addi(5, 0, 7), wfi});
    reset.set(false);
    sc_start(sc_time(1, sc_core::SC_US));
    EXPECT_EQ(dut.core().read_x(5), 7u);
    reset.set(true);
    reset.set(false);
    EXPECT_EQ(dut.core().read_x(5), 0u);
    EXPECT_EQ(dut.core().pc(), 0u);
}

/// A register that pulses the hart's reset at each of the first `pulses` writes.
class reset_register : public sc_core::sc_module, private blocking_transport {
public:
    tlm::tlm_target_socket<64> in{"in"};
    irq_out reset{"reset"};
    unsigned pulses = 1000;

    explicit reset_register(const sc_core::sc_module_name&) { in.bind(*this); }

private:
    void b_transport(tlm::tlm_generic_payload& payload, sc_time& delay) override {
        delay += sc_time(100, sc_core::SC_NS);
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
        if (pulses == 0) return;
        --pulses;
        reset.set(true);
        reset.set(false);
    }
};

TEST(RiscvHartResetTest, HartThatResetsItselfBeginsAtTheResetVectorEachTime) {
    constexpr u32 boots = 0x100;  // counted by the program at this address
    trn::memory ram("ram", {.size = 0x10000});
    reset_register device("device");
    const unsigned pulses = device.pulses;
    router bus("bus", {});
    riscv_hart dut("dut", {.reset_vector = 0});
    dut.bus.bind(bus.target);
    bus.initiator.bind(ram.in);
    bus.initiator.bind(device.in);
    bus.map({0, 0x10000, 0, 0});
    bus.map({0x10000, 4, 0, 1});
    device.reset.bind(dut.reset);
    const u32 program[] = {lw(7, 0, boots),
                           addi(7, 7, 1),
                           sw(7, 0, boots),
                           lui(6, 0x10),
                           sw(0, 6, 0),
                           addi(8, 8, 1),
                           wfi};
    std::memcpy(ram.bytes().data(), program, sizeof program);
    sc_start(sc_time(1, sc_core::SC_MS));
    u32 booted = 0;
    std::memcpy(&booted, ram.bytes().data() + boots, sizeof booted);
    EXPECT_EQ(booted, pulses + 1);
    EXPECT_EQ(dut.core().read_x(8), 1u);
    EXPECT_TRUE(dut.core().waiting());
}

TEST_F(RiscvHartTest, HungHartResumesOnlyOnReset) {
    program({addi(5, 5, 1), wfi, jal(0, -8)});
    dut.core().write_csr(0x304, 1 << 7);
    sc_start(sc_time(1, sc_core::SC_US));
    dut.inject("hang", {});
    line.set(true);
    sc_start(sc_time(1, sc_core::SC_US));
    EXPECT_EQ(dut.core().read_x(5), 1u);
    EXPECT_EQ(dut.state(), "M-mode, hangs");
    EXPECT_FALSE(sc_core::sc_pending_activity());
    dut.core().write_csr(0x304, 0);
    reset.set(true);
    reset.set(false);
    sc_start(sc_time(1, sc_core::SC_US));
    EXPECT_EQ(dut.core().read_x(5), 1u);  // restarted: the register was zero
    EXPECT_EQ(dut.state(), "M-mode, waiting for interrupt");
    EXPECT_THROW(dut.inject("melt", {}), fault_error);
}

TEST_F(RiscvHartTest, DebuggerIsNotifiedWhenTheHartStops) {
    program({addi(5, 5, 1), jal(0, -4)});
    int stops = 0;
    dut.on_stop([&] { ++stops; });
    sc_start(sc_time(1, sc_core::SC_US));
    dut.add_breakpoint(4);
    sc_start(sc_time(10, sc_core::SC_US));
    EXPECT_EQ(stops, 1);
    EXPECT_TRUE(dut.halted());
    EXPECT_EQ(dut.last_stop().why, debug_target::stop_kind::breakpoint);
    EXPECT_EQ(*dut.read_register(debug_target::pc), 4u);
    EXPECT_FALSE(sc_core::sc_pending_activity());
    dut.resume(true);
    sc_start(sc_time(1, sc_core::SC_US));
    EXPECT_EQ(stops, 2);
    EXPECT_EQ(*dut.read_register(debug_target::pc), 0u);
}

}  // namespace trn::riscv::test

// SPDX-License-Identifier: Apache-2.0
// Interrupts that harts raise while they are ahead of the kernel's time.
#include <gtest/gtest.h>

#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "models/processor/interrupts/aclint.h"
#include "models/processor/riscv/riscv_hart.h"
#include "platform/framework/tlm/memory.h"
#include "platform/framework/tlm/router.h"
#include "tests/unit/processor/riscv/machine.h"

namespace trn::riscv::test {

using namespace as;
using sc_core::sc_start;
using sc_core::sc_time;

/// Two harts, each with 4 KiB of a RAM for its program, and the ACLINT at 0x10000.
class LineDelayTest : public testing::Test {
protected:
    static constexpr u32 aclint_page = 0x10, quantum = 2500, handler = 0x800;
    static constexpr u32 counting[] = {addi(5, 5, 1), jal(0, -4)};

    trn::memory ram{"ram", {.size = 1 << 16}};
    aclint timers{"timers", {.harts = 2, .access_latency = sc_time(20, sc_core::SC_NS)}};
    trn::router bus{"bus", {}};
    std::vector<std::unique_ptr<riscv_hart>> harts;

    LineDelayTest() {
        for (u64 id = 0; id < 2; ++id) {
            harts.push_back(std::make_unique<riscv_hart>(
                ("hart" + std::to_string(id)).c_str(),
                riscv_hart::config{
                    .hart_id = id, .reset_vector = id * 0x1000, .quantum_instructions = quantum}));
            harts[id]->bus.bind(bus.target);
            timers.software[id].bind(harts[id]->irq, riscv_hart::machine_software);
            riscv::hart& core = harts[id]->core();
            core.write_csr(0x305, id * 0x1000 + handler);  // mtvec
            core.write_csr(0x304, 1 << 3);                 // mie.MSIE
            core.write_csr(0x300, 1 << 3);                 // mstatus.MIE
            program(id, handler, {addi(6, 5, 0), jal(0, 0)});
        }
        bus.initiator.bind(ram.in);
        bus.initiator.bind(timers.in);
        bus.map({.base = 0, .size = 0x10000, .target_base = 0, .port = 0});
        bus.map({.base = 0x10000, .size = 0x10000, .target_base = 0, .port = 1});
    }
    void program(u64 id, u64 offset, std::initializer_list<u32> words) {
        std::memcpy(ram.bytes().data() + id * 0x1000 + offset, words.begin(), words.size() * 4);
    }
    /// Counts to `turns` in x7, two instructions each, then writes 1 to MSIP of hart `target`, and
    /// counts in x5.
    void send_after(int turns, u32 target) {
        program(0, 0,
                {addi(8, 0, turns), lui(9, aclint_page), addi(10, 0, 1), addi(7, 7, 1),
                 bne(7, 8, -4), sw(10, 9, static_cast<i32>(4 * target)), counting[0], counting[1]});
    }
};

TEST_F(LineDelayTest, HartTakesItsOwnInterruptAtOnce) {
    send_after(1000, 0);
    program(1, 0, {wfi, jal(0, -4)});
    sc_start(sc_time(100, sc_core::SC_US));
    EXPECT_EQ(harts[0]->core().pc(), handler + 4);
    EXPECT_LE(harts[0]->core().read_x(6), 1u) << "increments between the store and the trap";
}

TEST_F(LineDelayTest, OtherHartIsNotInterruptedBeforeTheStore) {
    send_after(1000, 1);
    program(1, 0, {counting[0], counting[1]});
    sc_start(sc_time(100, sc_core::SC_US));
    EXPECT_EQ(harts[1]->core().pc(), 0x1000 + handler + 4);
    const auto seen_after = 2 * harts[1]->core().read_x(6);  // instructions, of 1 ns each
    EXPECT_GE(seen_after, 2000u);
    EXPECT_LE(seen_after, 2000u + quantum + 64);
}

TEST_F(LineDelayTest, WaitingHartWakesAtTheTimeOfTheStore) {
    send_after(1000, 1);
    program(1, 0, {wfi, jal(0, -4)});
    sc_time woken;
    irq_in awake{"awake_probe", 1, [&](unsigned, bool level) {
                     if (level && sc_core::sc_time_stamp() > sc_core::SC_ZERO_TIME)
                         woken = sc_core::sc_time_stamp();
                 }};
    harts[1]->awake.bind(awake);
    sc_start(sc_time(100, sc_core::SC_US));
    EXPECT_GE(woken, sc_time(2020, sc_core::SC_NS));
    EXPECT_LE(woken, sc_time(2030, sc_core::SC_NS)) << "2,003 instructions and 20 ns of access";
}

}  // namespace trn::riscv::test

// SPDX-License-Identifier: Apache-2.0
// The time that accesses take a hart, and the time by which it is ahead of the kernel's.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>

#include "models/processor/riscv/riscv_hart.h"
#include "platform/framework/tlm/memory.h"
#include "platform/framework/tlm/router.h"
#include "tests/unit/processor/riscv/machine.h"

namespace trn::riscv::test {

using namespace as;
using sc_core::sc_start;
using sc_core::sc_time;

/// A device that notes the largest delay of an access.
struct noting_device : sc_core::sc_module {
    target_socket<noting_device> in{"in"};
    sc_time latest;
    std::function<void()> accessed;

    explicit noting_device(sc_core::sc_module_name name) : sc_module(name) {
        in.register_b_transport(this, &noting_device::b_transport);
    }
    void b_transport(tlm::tlm_generic_payload& payload, sc_time& delay) {
        latest = std::max(latest, delay);
        if (accessed) accessed();
        if (payload.is_read()) std::memset(payload.get_data_ptr(), 0, payload.get_data_length());
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
};

/// RAM at 0, which takes no time; at 0x10000, to which x5 points, memory of 100 ns behind a bus of
/// 10 ns; a device at 0x20000, to which x6 points.
class HartTimeTest : public testing::Test {
protected:
    static constexpr std::uint64_t slow_address = 0x10000, device_address = 0x20000;
    static constexpr u64 read_time = 110, write_time = 110;  // instructions

    router bus{"bus", {}}, far_bus{"far_bus", {.hop_latency = sc_time(10, sc_core::SC_NS)}};
    trn::memory ram{"ram", {.size = 1 << 16}};
    trn::memory slow{"slow", {.size = 1 << 16, .access_latency = sc_time(100, sc_core::SC_NS)}};
    noting_device device{"device"};
    hart_common shared;
    riscv_hart dut{"dut", {.reset_vector = 0, .quantum_instructions = 100}, shared};

    HartTimeTest() {
        dut.bus.bind(bus.target);
        bus.initiator.bind(ram.in);
        bus.initiator.bind(far_bus.target);
        bus.initiator.bind(device.in);
        far_bus.initiator.bind(slow.in);
        bus.map({0, 1 << 16, 0, 0});
        bus.map({slow_address, 1 << 16, 0, 1});
        bus.map({device_address, 0x1000, 0, 2});
        far_bus.map({0, 1 << 16, 0, 0});
        dut.core().write_x(5, slow_address);
        dut.core().write_x(6, device_address);
    }
    void program(std::initializer_list<u32> words, std::size_t offset = 0) {
        std::memcpy(ram.bytes().data() + offset, words.begin(), words.size() * 4);
    }
    template <typename T = u64>
    T word(std::size_t offset) {
        T value = 0;
        std::memcpy(&value, slow.bytes().data() + offset, sizeof value);
        return value;
    }
    void run() {
        sc_start(sc_time(1, sc_core::SC_MS));
        ASSERT_TRUE(core().waiting());
    }
    static constexpr u32 amo(u32 function, u32 rd, u32 rs1, u32 rs2) {  // of doublewords
        return 0x302f | rd << 7 | rs1 << 15 | rs2 << 20 | function << 27;
    }
    static constexpr u32 lr(u32 rd, u32 rs1) { return amo(2, rd, rs1, 0); }
    static constexpr u32 sc(u32 rd, u32 rs1, u32 rs2) { return amo(3, rd, rs1, rs2); }
    static constexpr u32 amoadd(u32 rd, u32 rs1, u32 rs2) { return amo(0, rd, rs1, rs2); }
    riscv::hart& core() { return dut.core(); }
    u64 retired() { return *core().read_csr(0xb02); }
};

TEST_F(HartTimeTest, LoadsAndStoresTakeTheLatencyOfTheirMemory) {
    std::memset(slow.bytes().data(), 7, 8);
    program({ld(7, 5, 0), sd(7, 5, 8), ld(8, 5, 16), wfi});
    run();
    EXPECT_EQ(word(8), 0x0707070707070707u);
    EXPECT_EQ(retired(), 4u);
    EXPECT_EQ(core().ticks(), 4 + 2 * read_time + write_time);
}

TEST_F(HartTimeTest, MemoryWithoutLatencyTakesNoTime) {
    program({addi(5, 0, 0x400), ld(7, 5, 0), sd(7, 5, 8), wfi});
    run();
    EXPECT_EQ(core().ticks(), 4u);
}

TEST_F(HartTimeTest, ALoopTakesTheSameTimeInEachMode) {  // frequent blocks are translated
    constexpr u64 rounds = 1000;
    program({addi(9, 0, rounds), ld(7, 5, 0), addi(7, 7, 1), sd(7, 5, 0), addi(9, 9, -1),
             bne(9, 0, -16), wfi});
    run();
    EXPECT_EQ(word(0), rounds);
    EXPECT_EQ(retired(), 2 + 5 * rounds);
    EXPECT_EQ(core().ticks(), 2 + rounds * (5 + read_time + write_time));
}

TEST_F(HartTimeTest, InstructionsComeFromACache) {
    const std::initializer_list<u32> code{addi(7, 7, 1), addi(7, 7, 1), jalr(0, 1, 0)};
    std::memcpy(slow.bytes().data(), code.begin(), code.size() * 4);
    program({jalr(1, 5, 0), wfi});
    run();
    EXPECT_EQ(core().read_x(7), 2u);
    EXPECT_EQ(core().ticks(), 5u);
}

TEST_F(HartTimeTest, AtomicAndMisalignedAccessesWorkInMemoryThatTakesTime) {
    program({addi(7, 0, 40), sd(7, 5, 0), addi(8, 0, 2), amoadd(9, 5, 8), lr(10, 5),
             addi(10, 10, 1), sc(11, 5, 10), ld(12, 5, 3), sd(12, 5, 0x105), wfi});
    run();
    EXPECT_EQ(core().read_x(9), 40u);
    EXPECT_EQ(core().read_x(11), 0u) << "the SC has stored";
    EXPECT_EQ(word(0), 43u);
    EXPECT_EQ(core().read_csr(0x342), 0u) << "no trap";
    // The SC reads, too: it compares with what LR has read.
    EXPECT_EQ(core().ticks(), 10 + 4 * read_time + 4 * write_time);
}

TEST_F(HartTimeTest, AStoreOfTheSameValueByAnotherHartEndsAReservationThere) {
    riscv_hart other("other", {.hart_id = 1, .reset_vector = 0x800}, shared);
    other.bus.bind(bus.target);
    irq_out reset("reset");
    reset.bind(other.reset);
    reset.set(true);
    other.core().write_x(5, slow_address);
    core().write_x(8, 7);
    // The reservation is not older than 64 instructions when the other hart stores.
    program({lr(7, 5), ld(9, 6, 0), jalr(0, 0, 12), sc(8, 5, 7), wfi});  // in two blocks
    device.accessed = [&] {
        dut.end_quantum();
        reset.set(false);
    };
    program({sd(0, 5, 0), wfi}, 0x800);
    run();
    EXPECT_EQ(core().read_x(8), 1u);
}

TEST_F(HartTimeTest, IsNotAheadByMoreThanTheGlobalQuantum) {
    const sc_time quantum(70, sc_core::SC_NS);
    tlm::tlm_global_quantum::instance().set(quantum);
    program({addi(9, 0, 1000), lw(7, 6, 0), addi(8, 8, 1), addi(9, 9, -1), bne(9, 0, -12), wfi});
    sc_time ends_at;
    device.accessed = [&] {
        const auto local = sc_core::sc_time_stamp() + device.latest;
        ends_at = std::max(ends_at, local);
        EXPECT_LT(local, (sc_core::sc_time_stamp() / quantum + 1) * quantum);
        device.latest = {};
    };
    run();
    tlm::tlm_global_quantum::instance().set(sc_core::SC_ZERO_TIME);
    EXPECT_EQ(core().ticks(), 2u + 4 * 1000);
    EXPECT_GT(ends_at, sc_time(3990, sc_core::SC_NS));
}

TEST_F(HartTimeTest, ALongGlobalQuantumEndsWithTheHartsLimit) {
    tlm::tlm_global_quantum::instance().set(sc_time(10, sc_core::SC_MS));
    program({addi(5, 5, 1), jal(0, -4)});
    sc_start(sc_time(1, sc_core::SC_NS));
    tlm::tlm_global_quantum::instance().set(sc_core::SC_ZERO_TIME);
    EXPECT_EQ(core().ticks(), 80'000u);
}

}  // namespace trn::riscv::test

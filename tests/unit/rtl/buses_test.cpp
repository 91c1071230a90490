// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lite_writer_rtl.h"
#include "models/soc/uart/uart_regs.h"
#include "platform/framework/kernel/random.h"
#include "platform/framework/tlm/memory.h"
#include "platform/framework/tlm/router.h"
#include "tests/support/deferring_memory.h"
#include "tests/support/irq_probe.h"
#include "tests/support/register_contract.h"
#include "tests/unit/rtl/blocks.h"
#include "tests/unit/rtl/patient_driver.h"
#include "uart_of_example_rtl.h"

namespace {

using namespace trn;
using sc_core::sc_start;
using sc_core::sc_time;

using test::us;

// --- AXI4-Lite

struct LiteRegisters : testing::Test {
    test::patient_driver cpu{"cpu"};
    test::lite_block dut{"dut"};
    LiteRegisters() { cpu.out.bind(dut.in.in); }
};

TEST_F(LiteRegisters, KeepWhatIsWritten) {
    std::array<std::uint32_t, 16> copy{};
    for (std::uint32_t n = 0; n < 1000; ++n) {
        const auto index = static_cast<std::uint32_t>(mix_bits(n) % 16);
        if (mix_bits(n + 5000) % 2 == 0)
            EXPECT_EQ(cpu.write(4 * index, copy[index] = n), tlm::TLM_OK_RESPONSE);
        else
            ASSERT_EQ(cpu.read(4 * index), copy[index]);
    }
    std::array<std::uint8_t, 4> bytes{};
    EXPECT_EQ(cpu.debug_read(8, bytes), 4u);
    EXPECT_EQ(bytes[0], copy[2] & 0xff);
}

TEST_F(LiteRegisters, AnswerWithErrors) {
    EXPECT_EQ(cpu.write(0x40, 1u), tlm::TLM_GENERIC_ERROR_RESPONSE);
    EXPECT_EQ(cpu.write(0x80, 1u), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    cpu.read(0x40);
    EXPECT_EQ(cpu.response, tlm::TLM_GENERIC_ERROR_RESPONSE);
    cpu.read(0x80);
    EXPECT_EQ(cpu.response, tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

// --- The UART's RTL and its registers

struct uart_block : rtl::block {
    explicit uart_block(sc_core::sc_module_name name)
        : block(name, rtl::designs::uart_of_example, rtl::clocking{}) {
        input("rxd").set(1);
    }
    rtl::apb_target in{*this, "in", "", &uart_regs::table};
};

TEST(UartInRtl, KeepsTheRegisterContractOfTheModel) {
    test::patient_driver cpu("cpu");
    uart_block dut("dut");
    cpu.out.bind(dut.in.in);
    sc_start(us);
    test::register_contract(
        uart_regs::table, [&](auto& payload, auto&) { cpu.send(payload); },
        [&](auto& payload) { return cpu.out->transport_dbg(payload); })
        .check();
}

// --- An AXI4 subordinate

struct AxiMemory : testing::TestWithParam<rtl::axi_target::settings> {
    void run(rtl::make_design* make) {
        constexpr unsigned count = 6;
        std::vector<std::unique_ptr<test::random_traffic>> traffic;
        test::memory_block dut("dut", make, GetParam());
        // The traffic of several initiators, through a router.
        router bus("bus", {});
        bus.initiator.bind(dut.in.in);
        bus.map({0, 0x10000, 0, 0});
        for (std::uint64_t n = 0; n < count; ++n) {
            traffic.push_back(std::make_unique<test::random_traffic>(
                ("traffic" + std::to_string(n)).c_str(),
                test::random_traffic::plan{.first = n * 0x2700 + 3 * n,
                                           .bytes = 0x2600,
                                           .accesses = 400,
                                           .longest = n == 0 ? 9000u : 300u,
                                           .has_enables = true}));
            traffic.back()->out.bind(bus.target);
        }
        sc_start(us * 100'000);
        for (const auto& each : traffic) {
            EXPECT_EQ(each->done, 400u);
            EXPECT_EQ(each->wrong, 0u);
            EXPECT_EQ(each->failed, 0u);
        }
        EXPECT_GE(dut.max_open_reads.get(), std::min(GetParam().outstanding, 2u));
    }
};

TEST_P(AxiMemory, KeepsWhatSixInitiatorsWrite) {
    run(rtl::designs::axi_memory);
}
TEST_P(AxiMemory, OfABusOf128BitsDoes) {
    run(rtl::designs::axi_memory_wide);
}

INSTANTIATE_TEST_SUITE_P(
    Settings, AxiMemory,
    testing::Values(rtl::axi_target::settings{}, rtl::axi_target::settings{.outstanding = 1},
                    rtl::axi_target::settings{.stall_percent = 60, .wraps = true}),
    [](const auto& p) { return "Number" + std::to_string(p.index); });

TEST(AxiMemoryBlock, TakesFixedAndWrappingBurstsAndToolsRead) {
    test::patient_driver cpu("cpu");
    test::memory_block dut("dut", rtl::designs::axi_memory, {.wraps = true});
    cpu.out.bind(dut.in.in);
    std::array<std::uint8_t, 64> bytes{};
    for (unsigned n = 0; n < bytes.size(); ++n) bytes[n] = static_cast<std::uint8_t>(n + 1);
    EXPECT_EQ(cpu.access(tlm::TLM_WRITE_COMMAND, 0x40, bytes.data(), 64), tlm::TLM_OK_RESPONSE);
    std::array<std::uint8_t, 64> back{};
    EXPECT_EQ(cpu.debug_read(0x40, back), 64u);
    EXPECT_EQ(back, bytes);
    tlm::tlm_generic_payload payload;
    set_access(payload, tlm::TLM_WRITE_COMMAND, 0x80, bytes.data(), 64);
    payload.set_streaming_width(4);
    EXPECT_EQ(cpu.send(payload), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(cpu.read(0x80), 0x403f3e3du);
    EXPECT_EQ(cpu.read(0x84), 0u);
    payload.set_streaming_width(3);
    EXPECT_EQ(cpu.send(payload), tlm::TLM_BURST_ERROR_RESPONSE);
}

// --- An AXI4 manager

struct DmaTest : testing::Test {
    test::patient_driver cpu{"cpu"};
    test::dma_block dut{"dut", {.outstanding = 3, .stall_percent = 25}};
    memory ram{"ram", {.size = 0x10000}};
    test::irq_probe irq{dut.irq.line};
    enum : std::uint32_t { source = 0, target = 4, count = 8, shape = 12, status = 16, start = 20 };

    DmaTest() {
        cpu.out.bind(dut.in.in);
        dut.out.out.bind(ram.in);
        for (std::size_t n = 0; n < 0x10000; ++n)
            ram.bytes().data()[n] = static_cast<std::uint8_t>(mix_bits(n));
    }
    void copy(std::uint32_t from, std::uint32_t to, std::uint32_t bursts, std::uint32_t form) {
        cpu.write(source, from);
        cpu.write(target, to);
        cpu.write(count, bursts);
        cpu.write(shape, form);
        cpu.write(start, 1u);
        sc_start(us * 1000);
    }
    static std::uint32_t form(unsigned beats, unsigned size, rtl::axi_burst::kind kind,
                              unsigned mistake = 0) {
        return (beats - 1) | size << 8 | static_cast<unsigned>(kind) << 11 | mistake << 13;
    }
    bool is_copied(std::uint32_t from, std::uint32_t to, std::size_t length) {
        const auto* const bytes = ram.bytes().data();
        return std::equal(bytes + from, bytes + from + length, bytes + to);
    }
};

using kind = rtl::axi_burst::kind;

TEST_F(DmaTest, CopiesByBurstsAndStopsItsClock) {
    copy(0x0, 0x8000, 16, form(32, 3, kind::incrementing));
    EXPECT_EQ(cpu.read(status), 1u);
    EXPECT_TRUE(irq.level());
    EXPECT_TRUE(is_copied(0, 0x8000, 16 * 32 * 8));
    const std::uint64_t cycles = dut.cycles();
    sc_start(us * 1000);
    EXPECT_LT(dut.cycles() - cycles, 10u);
}

TEST_F(DmaTest, CopiesByNarrowAndUnalignedBursts) {
    copy(0x1003, 0x9003, 30, form(9, 0, kind::incrementing));
    EXPECT_EQ(cpu.read(status), 1u);
    EXPECT_TRUE(is_copied(0x1003, 0x9003, 30 * 9));
}

TEST_F(DmaTest, CopiesByWrappingBursts) {
    copy(0x2000, 0xa000, 20, form(16, 3, kind::wrapping));
    EXPECT_EQ(cpu.read(status), 1u);
    EXPECT_TRUE(is_copied(0x2000, 0xa000, 20 * 128));
}

TEST_F(DmaTest, WritesAFixedBurstToOneAddress) {
    copy(0x3000, 0xb000, 1, form(4, 3, kind::fixed));
    EXPECT_EQ(cpu.read(status), 1u);
    EXPECT_TRUE(is_copied(0x3000, 0xb000, 8));
    EXPECT_FALSE(is_copied(0x3008, 0xb008, 8));
}

TEST_F(DmaTest, GetsTheErrorsOfMemory) {
    copy(0x0, 0x2'0000, 3, form(4, 3, kind::incrementing));
    EXPECT_EQ(cpu.read(status), 3u << 16 | 1);
}

TEST_F(DmaTest, BeginsABurstAcrossAPageAndGetsAnError) {
    std::string text;
    static std::string* said;
    said = &text;
    sc_core::sc_report_handler::set_handler(
        [](const sc_core::sc_report& report, const sc_core::sc_actions&) {
            *said += report.get_msg();
        });
    copy(0x0, 0x0, 1, form(16, 3, kind::incrementing, 2));
    EXPECT_EQ(text,
              "dut: dut.out: the design begins a burst of 128 bytes that crosses a boundary of 4 "
              "KiB at 0xff8: "
              "the write gets SLVERR");
    EXPECT_EQ(cpu.read(status), 1u << 16 | 1);
}

TEST_F(DmaTest, EndsABurstTooEarlyAndIsStopped) {
    std::string text;
    static std::string* said;
    said = &text;
    sc_core::sc_report_handler::set_handler(
        [](const sc_core::sc_report& report, const sc_core::sc_actions&) {
            *said += report.get_msg();
        });
    copy(0x0, 0x8000, 1, form(16, 3, kind::incrementing, 1));
    EXPECT_EQ(text,
              "dut: WLAST is high in beat 2 of a write of 16 beats at 0x8000 (dut.out): the clock "
              "stops, and "
              "accesses fail until a reset");
    cpu.read(status);
    EXPECT_EQ(cpu.response, tlm::TLM_GENERIC_ERROR_RESPONSE);
}

TEST(DmaBlock, WaitsForMemoryThatDefersWithoutItsClock) {
    test::patient_driver cpu("cpu");
    test::dma_block dut("dut");
    test::deferring_memory ram("ram");
    ram.latency = us;
    ram.annotated = sc_time(100, sc_core::SC_NS);
    cpu.out.bind(dut.in.in);
    dut.out.out.bind(ram.in);
    for (std::size_t n = 0; n < 0x400; ++n) ram.bytes[n] = static_cast<std::uint8_t>(mix_bits(n));
    for (const auto& [address, value] : std::initializer_list<std::pair<unsigned, std::uint32_t>>{
             {0, 0}, {4, 0x800}, {8, 16}, {12, 3 | 3 << 8 | 1 << 11}, {20, 1}})
        cpu.write(address, value);
    sc_start(us * 1000);
    EXPECT_EQ(cpu.read(16), 1u);
    EXPECT_TRUE(
        std::equal(ram.bytes.begin(), ram.bytes.begin() + 16 * 32, ram.bytes.begin() + 0x800));
    EXPECT_EQ(ram.questions, 32u);
}

struct lite_writer_block : rtl::block {
    explicit lite_writer_block(sc_core::sc_module_name name)
        : block(name, rtl::designs::lite_writer, rtl::clocking{}) {}
    rtl::axi_initiator out{*this, "out", ""};
    rtl::line_out is_equal{*this, "is_equal", "is_equal"};
};

TEST(LiteManager, MakesAccessesOfWholeWords) {
    lite_writer_block dut("dut");
    memory ram("ram", {.size = 0x1000});
    dut.out.out.bind(ram.in);
    test::irq_probe is_equal(dut.is_equal.line);
    sc_start(10 * us);
    EXPECT_TRUE(is_equal.level());
    EXPECT_THAT(std::vector(ram.bytes().data() + 0x14, ram.bytes().data() + 0x18),
                testing::ElementsAre(0x11, 0x22, 0x33, 0x44));
}

// --- Streams

struct packet_sink : sc_core::sc_module {
    target_socket<packet_sink> in{"in"};
    std::vector<std::vector<std::uint8_t>> packets;
    explicit packet_sink(sc_core::sc_module_name name) : sc_module(name) {
        in.register_b_transport(this, &packet_sink::b_transport);
    }
    void b_transport(tlm::tlm_generic_payload& payload, sc_time& delay) {
        EXPECT_EQ(payload.get_address(), 0x40u);
        packets.emplace_back(payload.get_data_ptr(),
                             payload.get_data_ptr() + payload.get_data_length());
        delay += sc_time(200, sc_core::SC_NS);
        payload.set_response_status(tlm::TLM_OK_RESPONSE);
    }
};

TEST(StreamLoopback, ReturnsPacketsOfAllLengths) {
    test::patient_driver cpu("cpu");
    test::stream_block dut("dut");
    packet_sink sink("sink");
    cpu.out.bind(dut.in.in);
    dut.out.out.bind(sink.in);
    std::vector<std::vector<std::uint8_t>> sent;
    for (std::size_t n = 1; n <= 60; ++n) {
        std::vector<std::uint8_t> packet(n % 10 == 0 ? 40 * n : n);
        for (std::size_t b = 0; b < packet.size(); ++b)
            packet[b] = static_cast<std::uint8_t>(mix_bits(n * 977 + b));
        EXPECT_EQ(cpu.access(tlm::TLM_WRITE_COMMAND, 0, packet.data(), packet.size()),
                  tlm::TLM_OK_RESPONSE);
        sent.push_back(packet);
    }
    sc_start(us * 100);
    EXPECT_EQ(sink.packets, sent);
    EXPECT_EQ(cpu.read(0), 0u);
    EXPECT_EQ(cpu.response, tlm::TLM_COMMAND_ERROR_RESPONSE);
    const std::uint64_t cycles = dut.cycles();
    sc_start(us * 1000);
    EXPECT_LT(dut.cycles() - cycles, 10u);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/rtl/block.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "platform/framework/netlist/kinds/model_refusal.h"
#include "tests/support/irq_probe.h"
#include "tests/unit/rtl/blocks.h"
#include "tests/unit/rtl/patient_driver.h"

namespace {

using namespace trn;
using sc_core::sc_start;
using sc_core::sc_time;
using testing::HasSubstr;

using test::ns, test::us;

/// Reports of SystemC, which the harness would make failures.
struct report_collector {
    static inline std::string text;
    report_collector() {
        text.clear();
        sc_core::sc_report_handler::set_handler(
            [](const sc_core::sc_report& report, const sc_core::sc_actions&) {
                text += std::string(report.get_msg()) + "\n";
            });
    }
};

struct FaultyDesign : testing::Test {
    test::patient_driver cpu{"cpu"};
    test::faulty_block dut{"dut", {.time_out = 100}};
    test::irq_probe low_bit{dut.low_bit.line};
    irq_out level{"level"};

    FaultyDesign() {
        cpu.out.bind(dut.in.in);
        level.bind(dut.levels.line, 1);
        sc_start(10 * us);
    }
};

TEST_F(FaultyDesign, KeepsItsRegistersAndStopsItsClock) {
    const std::uint64_t before = dut.cycles();
    EXPECT_LT(before, 30u);  // the reset, and cycles that show that nothing changes
    sc_start(us * 1000);
    EXPECT_EQ(dut.cycles(), before);
    for (std::uint32_t n = 0; n < 8; ++n)
        EXPECT_EQ(cpu.write(4 * n, 0x1000 + n), tlm::TLM_OK_RESPONSE);
    for (std::uint32_t n = 0; n < 8; ++n) EXPECT_EQ(cpu.read(4 * n), 0x1000 + n);
    EXPECT_FALSE(low_bit.level());
    cpu.write(0, 1u);
    EXPECT_TRUE(low_bit.level());
    const std::uint64_t after = dut.cycles();
    EXPECT_LT(after - before, 17u * 10 + 40);
    sc_start(us * 1000);
    EXPECT_LT(dut.cycles() - after, 10u);
}

TEST_F(FaultyDesign, AnswersAtAnEdgeOfItsGridAfterItsWaitStates) {
    sc_start(3 * ns);
    EXPECT_EQ(cpu.write(0, 7u), tlm::TLM_OK_RESPONSE);
    // The edge after 10.000003 ms; setup, access, two wait states of its random number, the answer.
    EXPECT_GE(cpu.took, 40 * ns);
    EXPECT_LE(cpu.took, 80 * ns);
}

TEST_F(FaultyDesign, IsReadByToolsWithoutAChange) {
    cpu.write(4, 0xabcdu);
    const std::uint64_t cycles = dut.cycles();
    std::array<std::uint8_t, 4> bytes{};
    EXPECT_EQ(cpu.debug_read(4, bytes), 4u);
    EXPECT_EQ(bytes[0], 0xcd);
    EXPECT_EQ(bytes[1], 0xab);
    EXPECT_EQ(dut.cycles(), cycles);
    EXPECT_EQ(cpu.debug_read(2, bytes), 0u);
}

TEST_F(FaultyDesign, SeesALineAtTheNextEdgeAlthoughItsClockStoodStill) {
    const rtl::pin seen = dut.output("level_of_input");
    EXPECT_EQ(seen.get(), 0u);
    level.set(true);
    sc_start(30 * ns);
    EXPECT_EQ(seen.get(), 2u);
    level.set(false);
    sc_start(30 * ns);
    EXPECT_EQ(seen.get(), 0u);
}

TEST_F(FaultyDesign, WithoutAnAnswerIsReportedAndFailsUntilItsReset) {
    const report_collector reports;
    EXPECT_EQ(cpu.read(0x100), 0u);
    EXPECT_EQ(cpu.response, tlm::TLM_GENERIC_ERROR_RESPONSE);
    EXPECT_EQ(reports.text,
              "dut: no PREADY within 100 cycles of a read of 4 bytes at 0x100 (APB): the clock "
              "stops, and accesses fail until a reset\n");
    EXPECT_EQ(cpu.write(0, 1u), tlm::TLM_GENERIC_ERROR_RESPONSE);
    irq_out reset("reset");
    reset.bind(dut.reset);
    reset.pulse();
    EXPECT_EQ(cpu.write(0, 1u), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(cpu.read(0), 1u);
}

TEST_F(FaultyDesign, RefusesWhatIsNotAWord) {
    EXPECT_EQ(cpu.write(0, std::uint8_t{1}), tlm::TLM_BURST_ERROR_RESPONSE);
    EXPECT_EQ(cpu.write(2, 1u), tlm::TLM_BURST_ERROR_RESPONSE);
    EXPECT_EQ(cpu.write(0, std::uint64_t{1}), tlm::TLM_BURST_ERROR_RESPONSE);
    EXPECT_EQ(cpu.read(0x124), 0u);
    EXPECT_EQ(cpu.response, tlm::TLM_GENERIC_ERROR_RESPONSE);
}

struct stopping {
    const char* name;
    std::uint64_t address;
    const char* text;
    friend void PrintTo(const stopping& s, std::ostream* out) { *out << s.name; }
};
struct StoppedDesign : FaultyDesign, testing::WithParamInterface<stopping> {};

TEST_P(StoppedDesign, IsReportedAndItsAccessesFail) {
    const report_collector reports;
    EXPECT_EQ(cpu.read(GetParam().address), 0u);
    EXPECT_EQ(cpu.response, tlm::TLM_GENERIC_ERROR_RESPONSE);
    EXPECT_THAT(reports.text, HasSubstr("dut: the RTL has stopped: "));
    EXPECT_THAT(reports.text, HasSubstr(GetParam().text));
    EXPECT_EQ(cpu.write(0, 1u), tlm::TLM_GENERIC_ERROR_RESPONSE);
    std::array<std::uint8_t, 4> bytes{};
    EXPECT_EQ(cpu.debug_read(0, bytes), 0u);
}

INSTANTIATE_TEST_SUITE_P(
    All, StoppedDesign,
    testing::Values(stopping{"Oscillation", 0x104, "did not converge"},
                    stopping{"Finish", 0x108, "$finish"}, stopping{"Stop", 0x10c, "$stop"},
                    stopping{"Error", 0x110, "the counter is 3"},
                    stopping{"Fatal", 0x114, "no way on"},
                    stopping{"Assertion", 0x118, "the address is not allowed"}),
    [](const auto& p) { return p.param.name; });

TEST(UnwrittenRegister, IsZeroOrOfTheSeed) {
    test::patient_driver a("a"), b("b"), c("c"), d("d");
    test::faulty_block zero("zero"), one("one", {.seed = 1}), again("again", {.seed = 1}),
        two("two", {.seed = 2});
    a.out.bind(zero.in.in);
    b.out.bind(one.in.in);
    c.out.bind(again.in.in);
    d.out.bind(two.in.in);
    EXPECT_EQ(a.read(0x120), 0u);
    const auto first = b.read(0x120);
    EXPECT_NE(first, 0u);
    EXPECT_EQ(c.read(0x120), first);
    EXPECT_NE(d.read(0x120), first);
}

TEST(WrongPort, IsRefusedWithTheNamesOfTheTopModule) {
    struct wrong : rtl::block {
        wrong(sc_core::sc_module_name name, const char* prefix)
            : block(name, rtl::designs::lite_registers, rtl::clocking{}), in(*this, "in", prefix) {}
        rtl::axi_lite_target in;
    };
    try {
        wrong dut("dut", "axi_");
        FAIL();
    } catch (const model_refusal& refused) {
        EXPECT_THAT(refused.what(),
                    HasSubstr("the top module has no input 'axi_wdata'; it has clk, rst_n, "));
    }
}

}  // namespace

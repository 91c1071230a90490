// SPDX-License-Identifier: Apache-2.0
#include "models/scale_up/die_to_die/die_to_die.h"

#include <gtest/gtest.h>

#include <vector>

#include "models/memory/hbm/hbm.h"
#include "models/misuse_rules.h"
#include "models/scale_up/die_to_die/die_to_die_regs.h"
#include "platform/framework/misuse/misuse.h"
#include "platform/framework/tlm/memory_port.h"
#include "tests/support/register_contract.h"
#include "tests/support/tlm_driver.h"

namespace {

using namespace trn;
using namespace trn::test;
using sc_core::sc_time;
namespace regs = die_to_die_regs;
using regs::reg;

class DieToDieTest : public testing::Test {
protected:
    explicit DieToDieTest(const die_to_die::config& cfg = {}) : link("link", cfg) {
        die_0.out.bind(link.from_die_0);
        die_1.out.bind(link.from_die_1);
        link.to_die_0.bind(stack_0.in);
        link.to_die_1.bind(stack_1.in);
        control.out.bind(link.control);
        control_0.out.bind(stack_0.control);
        control_1.out.bind(stack_1.control);
    }
    void SetUp() override { sc_core::sc_start(sc_core::SC_ZERO_TIME); }
    std::uint32_t value(reg r) { return control.read(regs::offset(r)); }

    tlm_driver die_0{"die_0"}, die_1{"die_1"}, control{"control"}, control_0{"control_0"},
        control_1{"control_1"};
    die_to_die link;
    hbm stack_0{"stack_0", {.size = 1 << 20}}, stack_1{"stack_1", {.size = 1 << 20}};
};

TEST_F(DieToDieTest, KeepsItsRegisterContract) {
    register_contract(control, regs::table).check();
}

TEST_F(DieToDieTest, CarriesBothDirections) {
    die_0.write<std::uint32_t>(0x100, 1);
    die_1.write<std::uint32_t>(0x100, 2);
    EXPECT_EQ(stack_1.bytes().data()[0x100], 1);
    EXPECT_EQ(stack_0.bytes().data()[0x100], 2);
    EXPECT_EQ(value(reg::to_die_1_bytes_lo), 4u);
}

TEST_F(DieToDieTest, ReadLoadsTheReturnPathAndCrossesTwice) {
    std::vector<std::uint8_t> bytes(4096);
    die_0.read_bytes(0, bytes);
    EXPECT_EQ(value(reg::to_die_0_bytes_lo), 4096u);
    EXPECT_EQ(value(reg::to_die_1_bytes_lo), 0u);
    // 4096 / 2.46 TB/s, twice 30 ns, then the stack: 4096 / 1.1747 TB/s and 120 ns
    EXPECT_NEAR(die_0.delay.to_seconds() * 1e9, 1.665 + 60 + 3.487 + 120, 0.01);
}

/// A read reserves its return path for when the far die has done its work, and must not block the
/// far die before.
TEST_F(DieToDieTest, ReadOccupiesTheFarSideOneCrossingAfterItWasSent) {
    std::vector<std::uint8_t> bytes(4096);
    die_0.read_bytes(0, bytes);
    die_0.write_bytes(0, bytes);  // at the same time, in the other direction
    // Both arrive together, the stack serves them in order; the write ends there (60 ns).
    const double link = 4096 / 2.46e3, stack = 4096 / 1.1747e3, crossing = 30;
    // ns).
    EXPECT_NEAR(die_0.delay.to_seconds() * 1e9, link + crossing + 2 * stack + 60, 0.02);
    // The same write much later, without the read.
    sc_core::sc_start(sc_time(1, sc_core::SC_US));
    die_0.write_bytes(0, bytes);
    EXPECT_NEAR(die_0.delay.to_seconds() * 1e9, link + crossing + stack + 60, 0.02);
    // The same from the other die.
    sc_core::sc_start(sc_time(1, sc_core::SC_US));
    die_1.read_bytes(0, bytes);
    die_1.write_bytes(0, bytes);
    EXPECT_NEAR(die_1.delay.to_seconds() * 1e9, link + crossing + 2 * stack + 60, 0.02);
}

TEST_F(DieToDieTest, FunctionalCopiesCountTheirBytes) {
    set_timing(timing_mode::functional);
    memory_port port(die_0.out);
    const auto* window = port.find(tlm::TLM_READ_COMMAND, 0x1000);
    ASSERT_NE(window, nullptr);
    const sc_time at(5, sc_core::SC_NS);
    EXPECT_EQ(window->reserve(tlm::TLM_READ_COMMAND, 0x1000, 65536, at), at);
    EXPECT_EQ(value(reg::to_die_0_bytes_lo), 65536u);
    std::vector<std::uint8_t> bytes(4096);
    die_0.read_bytes(0, bytes);
    EXPECT_EQ(die_0.delay, sc_core::SC_ZERO_TIME);
    EXPECT_EQ(value(reg::to_die_0_bytes_lo), 65536u + 4096);
}

TEST_F(DieToDieTest, DirectMemoryPointersPassThroughTheLink) {
    tlm::tlm_initiator_socket<64>& socket = die_0.out;
    memory_port port(socket);
    const auto* window = port.find(tlm::TLM_WRITE_COMMAND, 0x1000);
    ASSERT_NE(window, nullptr);
    EXPECT_EQ(window->at(0x1000), stack_1.bytes().data() + 0x1000);
    EXPECT_EQ(window->hops.size(), 2u);
    EXPECT_EQ(window->write_latency, sc_time(90, sc_core::SC_NS));
    EXPECT_EQ(window->read_latency, sc_time(180, sc_core::SC_NS));
    // The link is faster than the stack, so the stack limits the rate.
    const sc_time through =
        window->reserve(tlm::TLM_WRITE_COMMAND, 0x1000, 65536, sc_core::SC_ZERO_TIME);
    EXPECT_NEAR(through.to_seconds() * 1e9, 55.79, 0.01);
    EXPECT_EQ(value(reg::to_die_1_bytes_lo), 65536u);
}

TEST_F(DieToDieTest, RetryIsCountedAndTakesTime) {
    die_0.write<std::uint32_t>(0x100, 1);
    const sc_time usual = die_0.delay;
    link.inject("link_crc", {});
    die_0.write<std::uint32_t>(0x8000, 1);
    EXPECT_GE(die_0.delay, usual + link.settings().retry_time);
    EXPECT_EQ(value(reg::retries), 1u);
}

TEST_F(DieToDieTest, LinkThatIsDownAnswersErrorsUntilTrained) {
    link.inject("link_down", {});
    EXPECT_EQ(die_0.invalidations, 1u);
    EXPECT_EQ(die_0.write<std::uint32_t>(0, 1), tlm::TLM_GENERIC_ERROR_RESPONSE);
    EXPECT_EQ(misuse::count(misuse::link_before_training), 1u);
    EXPECT_EQ(value(reg::status), 0u);
    control.write(regs::offset(reg::control), 1u);
    EXPECT_EQ(value(reg::status), regs::status::training.mask());
    sc_core::sc_start(link.settings().training_time);
    EXPECT_EQ(value(reg::status), regs::status::up.mask());
    EXPECT_EQ(die_0.write<std::uint32_t>(0, 1), tlm::TLM_OK_RESPONSE);
}

TEST_F(DieToDieTest, InitiatorThatIsAheadSeesTheTrainingAtItsOwnTime) {
    link.take_down();
    const sc_time ahead(3, sc_core::SC_US);
    control.annotated = ahead;
    control.write(regs::offset(reg::control), 1u);
    control.annotated = ahead + link.settings().training_time - sc_time(1, sc_core::SC_NS);
    EXPECT_EQ(value(reg::status), regs::status::training.mask());
    control.annotated = die_0.annotated = ahead + link.settings().training_time;
    EXPECT_EQ(value(reg::status), regs::status::up.mask());
    EXPECT_EQ(die_0.write<std::uint32_t>(0, 1), tlm::TLM_OK_RESPONSE);
    EXPECT_FALSE(link.up()) << "at the present";
}

TEST_F(DieToDieTest, EndOfTheTrainingRevokesRefusals) {
    tlm::tlm_dmi dmi;
    link.take_down();
    EXPECT_FALSE(die_0.request_dmi(0, dmi));
    control.write(regs::offset(reg::control), 1u);
    EXPECT_EQ(die_0.invalidations, 1u);
    sc_core::sc_start(link.settings().training_time + sc_time(1, sc_core::SC_NS));
    EXPECT_EQ(die_0.invalidations, 2u);
    EXPECT_TRUE(die_0.request_dmi(0, dmi));
}

struct UntrainedDieToDieTest : DieToDieTest {
    UntrainedDieToDieTest() : DieToDieTest({.needs_training = true}) {}
};

TEST_F(UntrainedDieToDieTest, LossOfPowerEndsTrainingCountersAndFaults) {
    irq_out power_lost{"power_lost"};
    power_lost.bind(link.power_lost);
    control.write(regs::offset(reg::control), 1u);
    sc_core::sc_start(link.settings().training_time);
    link.corrupt(2);
    die_0.write<std::uint32_t>(0x100, 1);
    EXPECT_EQ(value(reg::retries), 1u);
    EXPECT_TRUE(link.up());
    power_lost.set(true);
    link.inject("link_crc", {});  // no effect
    EXPECT_FALSE(link.up());
    EXPECT_EQ(value(reg::retries), 0u);
    EXPECT_EQ(value(reg::to_die_1_bytes_lo), 0u);
    power_lost.set(false);
    EXPECT_EQ(value(reg::status), 0u);
    EXPECT_EQ(die_0.write<std::uint32_t>(0x100, 1), tlm::TLM_GENERIC_ERROR_RESPONSE);
    control.write(regs::offset(reg::control), 1u);
    sc_core::sc_start(link.settings().training_time);
    EXPECT_EQ(die_0.write<std::uint32_t>(0x100, 1), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(value(reg::retries), 0u);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
#include "models/memory/hbm/hbm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>

#include "models/memory/hbm/hbm_regs.h"
#include "models/misuse_rules.h"
#include "platform/framework/misuse/misuse.h"
#include "platform/framework/tlm/memory.h"
#include "platform/framework/tlm/memory_port.h"
#include "tests/support/register_contract.h"
#include "tests/support/tlm_driver.h"

namespace {

using namespace trn;
using namespace trn::test;
using sc_core::sc_time;
namespace regs = hbm_regs;
using regs::reg;

class HbmTest : public testing::Test {
protected:
    explicit HbmTest(const hbm::config& cfg = {}) : stack("stack", cfg) {
        cpu.out.bind(stack.in);
        control.out.bind(stack.control);
    }
    void SetUp() override { sc_core::sc_start(sc_core::SC_ZERO_TIME); }

    std::uint64_t value(reg r) { return control.read(regs::offset(r)); }
    void wait_for_repair() {
        sc_core::sc_start(stack.settings().repair_time + sc_time(1, sc_core::SC_NS));
    }
    void command(std::uint32_t bits) { control.write(regs::offset(reg::control), bits); }

    tlm_driver cpu{"cpu"}, control{"control"};
    hbm stack;
};

TEST_F(HbmTest, KeepsItsRegisterContract) {
    register_contract(control, regs::table).check();
}

TEST_F(HbmTest, StoresBytesAtBothEndsAndAllocatesOnlyTouchedPages) {
    const std::uint64_t end = stack.settings().size - 8;
    cpu.write<std::uint64_t>(0, 1);
    cpu.write<std::uint64_t>(end, 2);
    EXPECT_EQ(cpu.read<std::uint64_t>(0), 1u);
    EXPECT_EQ(cpu.read<std::uint64_t>(end), 2u);
    cpu.read(end + 8);
    EXPECT_EQ(cpu.response, tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_LE(stack.bytes().resident(), 16384u);
}

TEST_F(HbmTest, ReadTakesItsLatencyAndPseudoChannelTime) {
    cpu.read(0);
    // 32 bytes of one pseudo-channel at 1.2288 TB/s * 95.6 % / 32, and 120 ns
    EXPECT_EQ(cpu.delay, sc_time(120'872, sc_core::SC_PS));
}

TEST_F(HbmTest, RepeatedAccessesToOneWordQueueAtItsPseudoChannelOnly) {
    cpu.read(0);
    const sc_time once = cpu.delay;
    cpu.read(0);
    EXPECT_GT(cpu.delay, once);
    cpu.read(512);
    EXPECT_EQ(cpu.delay, once);
}

TEST_F(HbmTest, AnnotatedDelayIsKeptAndIsTheTimeOfTheAccess) {
    cpu.annotated = sc_time(1, sc_core::SC_US);
    cpu.read(0);
    EXPECT_EQ(cpu.delay, sc_time(1'120'872, sc_core::SC_PS));
    cpu.annotated = sc_time(2, sc_core::SC_US);  // the pseudo-channel is free again
    cpu.read(0);
    EXPECT_EQ(cpu.delay, sc_time(2'120'872, sc_core::SC_PS));
}

TEST_F(HbmTest, StridesOfPowersOfTwoAreDistributedOverPseudoChannels) {
    for (const unsigned shift : {14u, 20u, 26u}) {  // 32 pseudo-channels x 512 bytes, and larger
        sc_core::sc_start(sc_time(1, sc_core::SC_MS));
        sc_time last;
        for (std::uint64_t n = 0; n < 32; ++n) {
            cpu.read(n << shift);
            last = std::max(last, cpu.delay);
        }
        cpu.read(0);
        const sc_time alone(120'872, sc_core::SC_PS), atom(872, sc_core::SC_PS);
        EXPECT_LT(last, alone + atom * 8) << shift;  // 31 atoms if all used the same
    }
}

TEST_F(HbmTest, LargeBurstsShareTheStackBandwidth) {
    std::vector<std::uint8_t> bytes(4096);
    cpu.read_bytes(0, bytes);
    const sc_time once = cpu.delay;
    cpu.read_bytes(1 << 20, bytes);
    EXPECT_EQ(cpu.delay - once, sc_time(4096 / 1174.7328e9, sc_core::SC_SEC));
}

TEST_F(HbmTest, FunctionalTimingTakesNoTime) {
    set_timing(timing_mode::functional);
    cpu.read(0);
    EXPECT_EQ(cpu.delay, sc_core::SC_ZERO_TIME);
}

TEST_F(HbmTest, CorrectedErrorsAreCountedOnceAndDataIsRight) {
    cpu.write<std::uint32_t>(0x1000, 77);
    stack.inject_error(memory_error::corrected, 0x1004);
    EXPECT_EQ(cpu.read(0x1000), 77u);
    EXPECT_EQ(cpu.response, tlm::TLM_OK_RESPONSE);
    cpu.read(0x1000);
    EXPECT_EQ(value(reg::ecc_corrected), 1u);
    EXPECT_EQ(value(reg::error_address_lo), 0x1000u);
    EXPECT_TRUE(stack.error.level());
    command(regs::control::clear_counters.mask());
    EXPECT_EQ(value(reg::ecc_corrected), 0u);
    EXPECT_FALSE(stack.error.level());
}

TEST_F(HbmTest, ErrorAddressAndStatisticsShowTheLastErrorAndAllCounts) {
    const std::uint64_t high = (std::uint64_t{5} << 32) + 0x123;
    stack.inject_error(memory_error::corrected, high);
    cpu.read<std::uint8_t>(high);
    EXPECT_EQ(value(reg::error_address_lo), 0x120u);  // of its 32 bytes
    EXPECT_EQ(value(reg::error_address_hi), 5u);
    stack.inject_error(memory_error::repairable, 0x3000);
    stack.inject_error(memory_error::uncorrected, 0x4000);
    for (int n = 0; n < 2; ++n) cpu.read(0x3000);
    for (int n = 0; n < 3; ++n) cpu.read(0x4000);
    EXPECT_EQ(value(reg::error_address_lo), 0x4000u);
    EXPECT_EQ(value(reg::error_address_hi), 0u);
    struct counted final : statistics {
        void count(std::string_view counter, std::uint64_t value) override {
            all[std::string(counter)] = value;
        }
        std::map<std::string, std::uint64_t> all;
    } found;
    stack.publish(found);
    EXPECT_GT(found.all.extract("bytes_resident").mapped(), 0u);
    EXPECT_EQ(found.all, (std::map<std::string, std::uint64_t>{{"bytes_moved", 32},
                                                               {"ecc_corrected", 1},
                                                               {"ecc_uncorrected", 3},
                                                               {"ecc_repairable", 2}}));
}

TEST_F(HbmTest, SharedMemoryIsDescribedAsAWholeAlsoBesideErrors) {
    stack.inject_error(memory_error::uncorrected, 0x5010);
    tlm::tlm_generic_payload payload;
    memory_descriptor wanted;
    payload.set_extension(&wanted);
    payload.set_read();
    payload.set_address(0x5010);
    tlm::tlm_dmi dmi;
    EXPECT_TRUE(cpu.out->get_direct_mem_ptr(payload, dmi));
    EXPECT_EQ(dmi.get_dmi_ptr(), stack.bytes().data());
    EXPECT_EQ(dmi.get_start_address(), 0u);
    EXPECT_EQ(dmi.get_end_address(), stack.settings().size - 1);
    EXPECT_TRUE(dmi.is_read_write_allowed());
    EXPECT_EQ(wanted.bytes, stack.bytes().data());
    EXPECT_EQ(wanted.descriptor, -1);  // private memory
    payload.set_address(stack.settings().size);
    dmi.init();
    EXPECT_FALSE(cpu.out->get_direct_mem_ptr(payload, dmi));
    payload.clear_extension(&wanted);
}

TEST_F(HbmTest, UncorrectableErrorsFailReadsUntilTheAtomIsWritten) {
    stack.inject_error(memory_error::uncorrected, 0x2000);
    cpu.read(0x201c);
    EXPECT_EQ(cpu.response, tlm::TLM_GENERIC_ERROR_RESPONSE);
    cpu.write<std::uint32_t>(0x2000, 1);  // the other 28 bytes stay uncorrectable
    cpu.read(0x2000);
    EXPECT_EQ(cpu.response, tlm::TLM_GENERIC_ERROR_RESPONSE);
    EXPECT_EQ(value(reg::ecc_uncorrected), 2u);
    std::array<std::uint8_t, 32> atom{};
    cpu.write_bytes(0x2000, atom);
    cpu.read(0x2000);
    EXPECT_EQ(cpu.response, tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(value(reg::ecc_repairable), 0u);
}

TEST_F(HbmTest, RepairHealsRepairableErrors) {
    stack.inject_error(memory_error::repairable, 0x3000);
    cpu.read(0x3000);
    EXPECT_EQ(regs::status::repair_state.get(value(reg::status)),
              regs::status::repair_state_pending);
    command(regs::control::repair.mask());
    EXPECT_EQ(regs::status::repairing.get(value(reg::status)), 1u);
    wait_for_repair();
    EXPECT_EQ(value(reg::status), regs::status::trained.mask());  // neither pending nor repairing
    cpu.read(0x3000);
    EXPECT_EQ(cpu.response, tlm::TLM_OK_RESPONSE);
}

TEST_F(HbmTest, RepairCanFail) {
    stack.inject("hbm_repairable", {{"offset", "0x3000"}});
    stack.inject("hbm_repair_fails", {});
    cpu.read(0x3000);
    command(regs::control::repair.mask());
    wait_for_repair();
    EXPECT_EQ(regs::status::repair_state.get(value(reg::status)),
              regs::status::repair_state_failed);
    cpu.read(0x3000);
    EXPECT_EQ(cpu.response, tlm::TLM_GENERIC_ERROR_RESPONSE);
}

TEST_F(HbmTest, PagesWithArmedErrorsRefuseDirectMemory) {
    tlm::tlm_dmi dmi;
    ASSERT_TRUE(cpu.request_dmi(0, dmi));
    EXPECT_EQ(dmi.get_end_address(), stack.settings().size - 1);
    stack.inject_error(memory_error::corrected, 0x5010);
    EXPECT_EQ(cpu.invalidated_first, 0x5000u);
    EXPECT_EQ(cpu.invalidated_last, 0x5fffu);
    EXPECT_FALSE(cpu.request_dmi(0x5800, dmi));
    ASSERT_TRUE(cpu.request_dmi(0x4000, dmi));
    EXPECT_EQ(dmi.get_end_address(), 0x4fffu);
    ASSERT_TRUE(cpu.request_dmi(0x6000, dmi));
    EXPECT_EQ(dmi.get_start_address(), 0x6000u);
    EXPECT_EQ(dmi.get_dmi_ptr(), stack.bytes().data() + 0x6000);
}

TEST_F(HbmTest, PageThatRefusesPointersSaysThatItIsMemory) {
    stack.inject_error(memory_error::corrected, 0x5010);
    const auto is_memory = [&](std::uint64_t address) {
        tlm::tlm_generic_payload request;
        memory_attribute attribute;
        request.set_read();
        request.set_address(address);
        request.set_extension(&attribute);
        tlm::tlm_dmi dmi;
        cpu.out->get_direct_mem_ptr(request, dmi);
        request.clear_extension(&attribute);
        return attribute.is_memory;
    };
    EXPECT_TRUE(is_memory(0x5800));
    EXPECT_FALSE(is_memory(stack.settings().size));
}

/// IEEE 1666, 11.3: a debugger's access has no side effects.
TEST_F(HbmTest, DebugAccessNeitherCountsNorClearsErrors) {
    stack.inject_error(memory_error::corrected, 0x5010);
    stack.inject_error(memory_error::uncorrected, 0x6000);
    std::uint32_t word = 0;
    EXPECT_EQ(cpu.debug_read(0x5010, word), 4u);
    EXPECT_EQ(cpu.debug_read(0x6000, word), 4u);
    EXPECT_EQ(value(reg::ecc_corrected), 0u);
    EXPECT_EQ(value(reg::ecc_uncorrected), 0u);
    cpu.read(0x5010);
    EXPECT_EQ(value(reg::ecc_corrected), 1u);
}

TEST_F(HbmTest, EndOfAnErrorRevokesRefusals) {
    tlm::tlm_dmi dmi;
    stack.inject_error(memory_error::corrected, 0x5010);
    stack.inject_error(memory_error::repairable, 0x7000);
    ASSERT_FALSE(cpu.request_dmi(0x5800, dmi));
    const auto before = cpu.invalidations;
    cpu.read<std::uint32_t>(0x5020);
    EXPECT_EQ(cpu.invalidations, before);
    cpu.read<std::uint32_t>(0x5010);
    EXPECT_EQ(cpu.invalidations, before + 1);
    EXPECT_TRUE(cpu.request_dmi(0x5800, dmi));
    cpu.read<std::uint32_t>(0x7000);
    ASSERT_FALSE(cpu.request_dmi(0x7800, dmi));
    command(regs::control::repair.mask());
    wait_for_repair();
    EXPECT_EQ(cpu.invalidations, before + 2);
    EXPECT_TRUE(cpu.request_dmi(0x7800, dmi));
}

TEST_F(HbmTest, FaultsAreInjectedByNameAndUnknownOnesReported) {
    EXPECT_THROW(stack.inject("hbm_corrected", {}), fault_error);
    EXPECT_THROW(stack.inject("hbm_corrected", {{"offset", "36 GiB"}}), fault_error);
    EXPECT_THROW(stack.inject("hbm_corrected", {{"offset", "38654705664"}}), fault_error);
    EXPECT_THROW(stack.inject("fire", {{"offset", "0"}}), fault_error);
    stack.inject("hbm_temperature", {{"celsius", "99"}});
    EXPECT_EQ(value(reg::temperature), 99u);
}

struct UntrainedHbmTest : HbmTest {
    UntrainedHbmTest() : HbmTest(hbm::config{.needs_training = true}) {}
};

TEST_F(UntrainedHbmTest, AnswersErrorsUntilTrained) {
    cpu.read(0);
    EXPECT_EQ(cpu.response, tlm::TLM_GENERIC_ERROR_RESPONSE);
    EXPECT_EQ(misuse::count(misuse::hbm_before_training), 1u);
    tlm::tlm_dmi dmi;
    EXPECT_FALSE(cpu.request_dmi(0, dmi));
    command(regs::control::train.mask());
    sc_core::sc_start(stack.settings().training_time - sc_time(1, sc_core::SC_NS));
    EXPECT_EQ(value(reg::status), regs::status::training.mask());
    sc_core::sc_start(sc_time(1, sc_core::SC_NS));
    EXPECT_EQ(value(reg::status), regs::status::trained.mask());
    cpu.read(0);
    EXPECT_EQ(cpu.response, tlm::TLM_OK_RESPONSE);
}

TEST_F(UntrainedHbmTest, InitiatorThatIsAheadSeesTheTrainingAtItsOwnTime) {
    const sc_time ahead(3, sc_core::SC_US), training = stack.settings().training_time;
    control.annotated = ahead;
    command(regs::control::train.mask());
    control.annotated = cpu.annotated = ahead + training - sc_time(1, sc_core::SC_NS);
    EXPECT_EQ(value(reg::status), regs::status::training.mask());
    cpu.read(0);
    EXPECT_EQ(cpu.response, tlm::TLM_GENERIC_ERROR_RESPONSE);
    control.annotated = cpu.annotated = ahead + training;
    EXPECT_EQ(value(reg::status), regs::status::trained.mask());
    cpu.read(0);
    EXPECT_EQ(cpu.response, tlm::TLM_OK_RESPONSE);
    std::uint32_t shown = 0;
    control.debug_read(regs::offset(reg::status), shown);
    EXPECT_EQ(shown, regs::status::training.mask()) << "at the present";
}

TEST_F(HbmTest, ErrorLineRisesAtTheTimeOfTheAccess) {
    stack.inject_error(memory_error::corrected, 0x3000);
    cpu.annotated = sc_time(500, sc_core::SC_NS);
    cpu.read(0x3000);
    EXPECT_FALSE(stack.error.level());
    sc_core::sc_start(sc_time(499, sc_core::SC_NS));
    EXPECT_FALSE(stack.error.level());
    sc_core::sc_start(sc_time(2, sc_core::SC_NS));
    EXPECT_TRUE(stack.error.level());
}

TEST_F(UntrainedHbmTest, EndOfTheTrainingRevokesRefusals) {
    command(regs::control::train.mask());
    const auto before = cpu.invalidations;
    sc_core::sc_start(stack.settings().training_time / 2);
    command(regs::control::train.mask());  // again: ends later
    EXPECT_EQ(cpu.invalidations, before + 1);
    EXPECT_EQ(cpu.invalidated_first, 0u);
    EXPECT_EQ(cpu.invalidated_last, stack.settings().size - 1);
    sc_core::sc_start(stack.settings().training_time * 0.75);
    EXPECT_EQ(cpu.invalidations, before + 1);
    sc_core::sc_start(stack.settings().training_time);
    EXPECT_EQ(cpu.invalidations, before + 2);
}

TEST_F(HbmTest, RepairEndsAfterItsTimeWithoutReadsOfTheStatus) {
    stack.inject_error(memory_error::repairable, 0x3000);
    cpu.read(0x3000);
    command(regs::control::repair.mask());
    sc_core::sc_start(stack.settings().repair_time / 2);
    command(regs::control::repair.mask());  // runs already
    cpu.read(0x3000);
    EXPECT_EQ(cpu.response, tlm::TLM_GENERIC_ERROR_RESPONSE);
    sc_core::sc_start(stack.settings().repair_time * 0.6);
    stack.fail_next_repair();  // too late for this one
    cpu.read(0x3000);
    EXPECT_EQ(cpu.response, tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(regs::status::repair_state.get(value(reg::status)), regs::status::repair_state_none);
}

TEST_F(HbmTest, LossOfPowerEndsARepairAndFaults) {
    irq_out power_lost{"power_lost"};
    power_lost.bind(stack.power_lost);
    stack.inject_error(memory_error::repairable, 0x3000);
    cpu.read(0x3000);
    stack.fail_next_repair();
    command(regs::control::repair.mask());
    power_lost.set(true);
    stack.inject_error(memory_error::uncorrected, 0x4000);  // no effect
    power_lost.set(false);
    EXPECT_FALSE(stack.error.level());
    sc_core::sc_start(stack.settings().repair_time * 2);
    EXPECT_EQ(value(reg::status), regs::status::trained.mask());
    cpu.read(0x3000);
    EXPECT_EQ(cpu.response, tlm::TLM_OK_RESPONSE);
    cpu.read(0x4000);
    EXPECT_EQ(cpu.response, tlm::TLM_OK_RESPONSE);
}

TEST_F(HbmTest, LossOfPowerRevokesPointersKeepsTheSizeAndForgetsTheTimeOfARepair) {
    irq_out power_lost{"power_lost"};
    power_lost.bind(stack.power_lost);
    const auto start_repair = [this] {
        stack.inject_error(memory_error::repairable, 0x3000);
        cpu.read(0x3000);
        command(regs::control::repair.mask());
    };
    start_repair();
    sc_core::sc_start(stack.settings().repair_time * 0.75);
    power_lost.set(true);
    power_lost.set(false);
    EXPECT_EQ(value(reg::size_mib), 36u << 10);
    EXPECT_EQ(cpu.invalidated_first, 0u);
    EXPECT_EQ(cpu.invalidated_last, stack.settings().size - 1);
    start_repair();
    sc_core::sc_start(stack.settings().repair_time / 2);  // the first one would have ended
    cpu.read(0x3000);
    EXPECT_EQ(cpu.response, tlm::TLM_GENERIC_ERROR_RESPONSE);
    sc_core::sc_start(stack.settings().repair_time * 0.6);
    cpu.read(0x3000);
    EXPECT_EQ(cpu.response, tlm::TLM_OK_RESPONSE);
}

}  // namespace

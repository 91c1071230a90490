// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_core/neuron_core/neuron_core.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <string_view>
#include <vector>

#include "models/misuse_rules.h"
#include "models/neuron_core/neuron_core/pe_counters_regs.h"
#include "models/neuron_core/neuron_core/sram_errors_regs.h"
#include "models/soc/notification_queue/notification_queue_regs.h"
#include "models/soc/semaphores/semaphores_regs.h"
#include "platform/framework/kernel/fault_arguments.h"
#include "platform/framework/kernel/introspection.h"
#include "platform/framework/misuse/misuse.h"
#include "platform/framework/tlm/memory.h"
#include "tests/support/memory_path.h"
#include "tests/support/register_contract.h"
#include "tests/support/tlm_driver.h"

namespace {

using namespace trn;
using namespace trn::test;
using nq = notification_queue_regs::reg;
using sem = semaphores_regs::reg;
using errors = sram_errors_regs::reg;

const std::uint64_t nq_at = neuron_core::config{}.notifications_offset;

class NeuronCoreTest : public testing::Test {
protected:
    void SetUp() override {
        aperture.out.bind(core.aperture);
        top.out.bind(core.top);
        bind_memory(core.memory, ram.in, path);
        reset.bind(core.reset);
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
    }
    static std::uint64_t at(sem r, unsigned i) {
        return neuron_core::semaphores_offset + semaphores_regs::offset(r, i);
    }
    void open_ring(unsigned slot, std::uint32_t base, std::uint32_t size) {
        top.write<std::uint32_t>(nq_at + notification_queue_regs::offset(nq::slot_base_hi, slot),
                                 0);
        top.write(nq_at + notification_queue_regs::offset(nq::slot_base_lo, slot), base);
        top.write(nq_at + notification_queue_regs::offset(nq::slot_size, slot), size);
    }
    std::uint32_t head(unsigned slot) {
        return top.read(nq_at + notification_queue_regs::offset(nq::slot_head, slot));
    }
    std::uint64_t counted(errors r) {
        return top.read(neuron_core::config{}.sram_errors_offset + sram_errors_regs::offset(r));
    }
    static void run() { sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_US)); }

    tlm_driver aperture{"aperture"}, top{"top"};
    neuron_core core{"core", {}};
    std::optional<memory_path> path;
    memory ram{"ram", {1 << 20}};
    irq_out reset{"reset"};
};

TEST_F(NeuronCoreTest, KeepsItsRegisterContracts) {
    register_contract(aperture, semaphores_regs::table, neuron_core::semaphores_offset).check();
    register_contract(top, notification_queue_regs::table, nq_at).check();
    register_contract(top, pe_counters_regs::table, neuron_core::config{}.pe_counters_offset)
        .check();
    register_contract(top, sram_errors_regs::table, neuron_core::config{}.sram_errors_offset)
        .check();
}

TEST_F(NeuronCoreTest, DebugReadsOfIdleEnginesConstructNoneAndShowResetValues) {
    struct counters final : statistics {
        void count(std::string_view, std::uint64_t) override { ++number; }
        unsigned number = 0;
    };
    const auto published = [&] {
        counters all;
        core.publish(all);
        return all.number;
    };
    const auto words = [&] {
        std::vector<std::uint32_t> all;
        for (std::uint64_t i = 0; i < core_engines::size; i += 4) {
            std::uint32_t word = 0xffff'ffff;
            if (aperture.debug_read(neuron_core::engines_offset + i, word) == 4)
                all.push_back(word);
        }
        return all;
    };
    const unsigned before = published();
    const auto idle = words();
    EXPECT_GT(idle.size(), 100u);
    EXPECT_EQ(published(), before);
    aperture.read(neuron_core::engines_offset);  // constructs them
    EXPECT_GT(published(), before);
    EXPECT_EQ(words(), idle);
}

TEST_F(NeuronCoreTest, HasSbufPsumAndSemaphoresAndHolesBetween) {
    aperture.write<std::uint64_t>(0x01ff'fff8, 1);
    aperture.write<std::uint64_t>(neuron_core::psum_offset, 2);
    EXPECT_EQ(core.sbuf().data()[0x01ff'fff8], 1);
    EXPECT_EQ(core.psum().data()[0], 2);
    EXPECT_EQ(aperture.write<std::uint32_t>(0x0220'0000, 1), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(aperture.write<std::uint32_t>(0x0270'2000, 1), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(top.write<std::uint32_t>(0, 1), tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

TEST_F(NeuronCoreTest, GivesDirectMemoryForSbufAndPsumOnly) {
    tlm::tlm_dmi dmi;
    ASSERT_TRUE(aperture.request_dmi(0x1000, dmi));
    EXPECT_EQ(dmi.get_end_address(), 0x01ff'ffffu);
    ASSERT_TRUE(aperture.request_dmi(neuron_core::psum_offset + 4, dmi));
    EXPECT_EQ(dmi.get_start_address(), neuron_core::psum_offset);
    EXPECT_FALSE(aperture.request_dmi(neuron_core::semaphores_offset, dmi));
}

TEST_F(NeuronCoreTest, ResetClearsSynchronisationAndKeepsMemory) {
    aperture.write<std::uint32_t>(0, 5);
    aperture.write<std::uint32_t>(at(sem::semaphore_set, 3), 5);
    aperture.write<std::uint32_t>(at(sem::event, 3), 1);
    open_ring(0, 0x1000, 256);
    reset.set(true);
    reset.set(false);
    EXPECT_EQ(aperture.read(0), 5u);
    EXPECT_EQ(aperture.read(at(sem::semaphore_read, 3)), 0u);
    EXPECT_EQ(aperture.read(at(sem::event, 3)), 0u);
    EXPECT_FALSE(core.notify(0, {}));
}

TEST_F(NeuronCoreTest, ParityErrorFailsReadsUntilTheBytesAreRewritten) {
    core.inject("sram_parity", {{"offset", "4100"}});
    aperture.read(0x1000);
    EXPECT_EQ(aperture.response, tlm::TLM_GENERIC_ERROR_RESPONSE);
    EXPECT_TRUE(core.error.level());
    EXPECT_EQ(counted(errors::uncorrected), 1u);
    EXPECT_EQ(counted(errors::error_address), 0x1000u);
    aperture.write<std::uint32_t>(0x1000, 1);
    aperture.read(0x1000);
    EXPECT_EQ(aperture.response, tlm::TLM_GENERIC_ERROR_RESPONSE);
    std::array<std::uint8_t, 32> whole{};
    aperture.write_bytes(0x1000, whole);
    aperture.read(0x1000);
    EXPECT_EQ(aperture.response, tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(counted(errors::uncorrected), 2u);
    top.write(neuron_core::config{}.sram_errors_offset,
              sram_errors_regs::control::clear_counters.mask());
    sc_core::sc_start(sc_core::sc_time(1, sc_core::SC_US));  // longer than the access
    EXPECT_FALSE(core.error.level());
    EXPECT_EQ(counted(errors::uncorrected), 0u);
}

TEST_F(NeuronCoreTest, CorrectedPsumErrorIsCountedOnceAndReturnsCorrectBytes) {
    aperture.write<std::uint32_t>(neuron_core::psum_offset + 8, 77);
    core.inject("sram_corrected", {{"offset", "33554440"}});
    EXPECT_EQ(aperture.read(neuron_core::psum_offset + 8), 77u);
    EXPECT_EQ(aperture.read(neuron_core::psum_offset + 8), 77u);
    EXPECT_EQ(counted(errors::corrected), 1u);
    EXPECT_EQ(counted(errors::error_address), neuron_core::psum_offset);
}

TEST_F(NeuronCoreTest, PagesWithErrorsRefuseDirectMemory) {
    tlm::tlm_dmi dmi;
    core.inject("sram_parity", {{"offset", "4100"}});
    EXPECT_EQ(aperture.invalidated_first, 0x1000u);
    EXPECT_EQ(aperture.invalidated_last, 0x1fffu);
    EXPECT_FALSE(aperture.request_dmi(0x1800, dmi));
    ASSERT_TRUE(aperture.request_dmi(0x2000, dmi));
    EXPECT_EQ(dmi.get_start_address(), 0x2000u);
    EXPECT_EQ(dmi.get_dmi_ptr(), core.sbuf().data() + 0x2000);
    EXPECT_EQ(dmi.get_end_address(), 0x01ff'ffffu);
    ASSERT_TRUE(aperture.request_dmi(neuron_core::psum_offset, dmi));
    EXPECT_EQ(dmi.get_start_address(), neuron_core::psum_offset);
    EXPECT_EQ(dmi.get_dmi_ptr(), core.psum().data());
}

TEST_F(NeuronCoreTest, EndOfAnErrorRevokesRefusals) {
    tlm::tlm_dmi dmi;
    core.inject("sram_corrected", {{"offset", "4100"}});
    EXPECT_FALSE(aperture.request_dmi(0x1800, dmi));
    const auto before = aperture.invalidations;
    aperture.read(0x1040);
    EXPECT_EQ(aperture.invalidations, before);
    aperture.read(0x1000);
    EXPECT_EQ(aperture.invalidations, before + 1);
    EXPECT_TRUE(aperture.request_dmi(0x1800, dmi));
}

TEST_F(NeuronCoreTest, ErrorsOutsideTheMemoryAreRefused) {
    EXPECT_THROW(core.inject("sram_parity", {}), fault_error);
    EXPECT_THROW(core.inject("sram_parity", {{"offset", "37748736"}}), fault_error);
    EXPECT_THROW(core.inject("hbm_corrected", {{"offset", "0"}}), fault_error);
}

TEST(NeuronCore, ErrorsAboveASmallerStateBufferAreRefused) {
    neuron_core small{"small", {.sbuf_size = 24 << 20}};
    EXPECT_THROW(small.inject("sram_parity", {{"offset", "25165824"}}), fault_error);
}

TEST_F(NeuronCoreTest, PowerLossClearsMemoryAndErrors) {
    irq_out power{"power"};
    power.bind(core.power_lost);
    aperture.write<std::uint32_t>(0, 5);
    aperture.write<std::uint32_t>(at(sem::semaphore_set, 3), 5);
    core.inject("sram_parity", {{"offset", "4096"}});
    aperture.read(0x1000);
    power.set(true);
    power.set(false);
    EXPECT_FALSE(core.error.level());
    EXPECT_EQ(aperture.read(0), 0u);
    EXPECT_EQ(aperture.read(0x1000), 0u);
    EXPECT_EQ(aperture.response, tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(aperture.read(at(sem::semaphore_read, 3)), 0u);
    EXPECT_EQ(counted(errors::uncorrected), 0u);
}

TEST_F(NeuronCoreTest, IdleCountersRun) {
    sc_core::sc_start(sc_core::sc_time(2, sc_core::SC_SEC));
    const auto lo = pe_counters_regs::offset(pe_counters_regs::reg::idle_lo, 4);
    const std::uint64_t idle = neuron_core::config{}.pe_counters_offset + lo;
    std::uint32_t low = 0, high = 0;
    top.debug_read(idle, low);
    top.debug_read(idle + 4, high);
    EXPECT_EQ(std::uint64_t{high} << 32 | low, 4'800'000'000u);
    // An initiator that is ahead, and the access, of 2.4 cycles per nanosecond.
    top.annotated = sc_core::sc_time(1, sc_core::SC_US);
    const std::uint32_t later = top.read(idle);
    EXPECT_NEAR(later - low, 2.4 * (top.delay / sc_core::sc_time(1, sc_core::SC_NS)), 1);
}

TEST_F(NeuronCoreTest, NotificationsFillTheRingAndFlipThePhase) {
    open_ring(3, 0x1000, 64);  // four entries
    EXPECT_EQ(head(3), 0x80000000u);
    for (std::uint32_t i = 0; i < 5; ++i)
        EXPECT_TRUE(core.notify(3, {notification::kind::error, 2, 100 + i}));
    run();
    EXPECT_EQ(head(3), 0x10u);  // wrapped: phase 0, one entry of the second pass
    std::array<std::uint32_t, 4> first, second;
    std::memcpy(first.data(), ram.bytes().data() + 0x1000, 16);
    std::memcpy(second.data(), ram.bytes().data() + 0x1010, 16);
    EXPECT_EQ(first[0], 0x203u);
    EXPECT_EQ(first[1], 104u);
    EXPECT_EQ(second[0], 0x80000203u);
    EXPECT_EQ(second[1], 101u);
}

TEST_F(NeuronCoreTest, FirmwarePostsByRegister) {
    open_ring(5, 0x1000, 256);
    top.write<std::uint32_t>(nq_at + notification_queue_regs::offset(nq::post_payload), 77);
    top.write<std::uint32_t>(nq_at + notification_queue_regs::offset(nq::post),
                             9 << 16 | 5 << 8 | 5);
    run();
    EXPECT_EQ(head(5), 1u << 31 | 16);
    std::array<std::uint32_t, 2> words;
    std::memcpy(words.data(), ram.bytes().data() + 0x1000, sizeof words);
    EXPECT_EQ(words[0], 1u << 31 | 9 << 8 | 5);
    EXPECT_EQ(words[1], 77u);
    top.write<std::uint32_t>(nq_at + notification_queue_regs::offset(nq::post), 6);  // disabled
    run();
    EXPECT_EQ(head(6), 0u);
}

TEST_F(NeuronCoreTest, DisabledSlotPostsNothing) {
    EXPECT_FALSE(core.notify(0, {}));
    open_ring(0, 0x1000, 64);
    open_ring(0, 0, 0);
    EXPECT_FALSE(core.notify(0, {}));
}

TEST_F(NeuronCoreTest, RingsOfWrongShapeAreMisuse) {
    open_ring(0, 0x1000, 100);
    EXPECT_FALSE(core.notify(0, {}));
    open_ring(1, 0x10'0000, 64);  // beyond the memory
    EXPECT_TRUE(core.notify(1, {}));
    run();
    EXPECT_EQ(misuse::count(misuse::notification_ring_shape), 2u);
    EXPECT_EQ(head(1), 0x80000000u);
}

TEST_F(NeuronCoreTest, AllNotificationsOfOneInstantAreDelivered) {
    open_ring(0, 0x1000, 4096);
    for (int i = 0; i < 70; ++i) core.notify(0, {});
    run();
    EXPECT_EQ(head(0), 0x80000000u + 70 * 16);
    EXPECT_EQ(top.read(nq_at + notification_queue_regs::offset(nq::slot_lost, 0)), 0u);
    EXPECT_EQ(misuse::count(misuse::notification_overflow), 0u);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
#include "models/soc/misc_ram/misc_ram.h"

#include <gtest/gtest.h>

#include "models/misuse_rules.h"
#include "models/soc/misc_ram/misc_ram_regs.h"
#include "models/soc/misc_ram/sim_reset.h"
#include "models/soc/misc_ram/sim_reset_firmware_regs.h"
#include "models/soc/misc_ram/sim_reset_regs.h"
#include "platform/framework/misuse/misuse.h"
#include "tests/support/register_contract.h"
#include "tests/support/tlm_driver.h"

namespace {

using namespace trn;
using namespace trn::test;

class MiscRamTest : public testing::Test {
protected:
    void SetUp() override {
        host.out.bind(ram.in);
        firmware.out.bind(ram.firmware);
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
    }
    static std::uint64_t at(misc_ram_regs::reg r, unsigned i = 0) {
        return misc_ram_regs::offset(r, i);
    }
    tlm_driver host{"host"}, firmware{"firmware"};
    misc_ram ram{"ram", {.access_latency = sc_core::SC_ZERO_TIME}};
};

TEST_F(MiscRamTest, KeepsItsRegisterContract) {
    register_contract(host, misc_ram_regs::table).check();
}

TEST_F(MiscRamTest, RoutingIdReadsBootingUntilFirmwarePublishes) {
    EXPECT_EQ(host.read(at(misc_ram_regs::reg::routing_id)), 0xdeadbeefu);
    firmware.write<std::uint32_t>(at(misc_ram_regs::reg::routing_id), 7);
    EXPECT_EQ(host.read(at(misc_ram_regs::reg::routing_id)), 7u);
    EXPECT_EQ(host.read(at(misc_ram_regs::reg::api_version)), 0u);
}

TEST_F(MiscRamTest, TriggerInterruptsUntilFirmwareWritesZero) {
    const auto trigger = at(misc_ram_regs::reg::trigger);
    host.write<std::uint32_t>(trigger, 1);
    EXPECT_TRUE(ram.doorbell.level());
    EXPECT_EQ(host.read(trigger), 1u);
    EXPECT_EQ(firmware.read(trigger), 1u);
    firmware.write<std::uint32_t>(trigger, 0);
    EXPECT_FALSE(ram.doorbell.level());
    EXPECT_EQ(host.read(trigger), 0u);
}

TEST_F(MiscRamTest, DoorbellRisesWhenTheWriteArrives) {
    host.annotated = sc_core::sc_time(900, sc_core::SC_NS);  // the way from the host
    host.write<std::uint32_t>(at(misc_ram_regs::reg::trigger), 1);
    EXPECT_FALSE(ram.doorbell.level());
    sc_core::sc_start(sc_core::sc_time(899, sc_core::SC_NS));
    EXPECT_FALSE(ram.doorbell.level());
    sc_core::sc_start(sc_core::sc_time(2, sc_core::SC_NS));
    EXPECT_TRUE(ram.doorbell.level());
}

TEST_F(MiscRamTest, RequestBeforeTheAnswerToTheLastIsAnOverrun) {
    using misc_ram_regs::reg;
    const auto host_writes = [&](reg r) { host.write<std::uint32_t>(at(r), 1); };
    const auto silence = [&] { firmware.write<std::uint32_t>(at(reg::trigger), 0); };
    for (int i = 0; i < 2; ++i) {  // sequentially
        for (const auto r : {reg::request_1, reg::request_0, reg::trigger}) host_writes(r);
        firmware.write<std::uint32_t>(at(reg::request_0), 5);
        silence();
    }
    host_writes(reg::reset_request);  // triggers the interrupt, but is not a request
    host_writes(reg::trigger);
    for (const auto r : {reg::request_1, reg::request_0, reg::trigger}) host_writes(r);
    EXPECT_EQ(misuse::reports(), 0u);
    host_writes(reg::request_1);
    host_writes(reg::request_0);
    EXPECT_EQ(misuse::count(misuse::mailbox_overrun, "ram"), 1u);
    silence();
    host_writes(reg::request_1);
    EXPECT_EQ(misuse::reports(), 1u);
}

TEST_F(MiscRamTest, BootingLineFallsWhenFirmwarePublishes) {
    EXPECT_TRUE(ram.booting.level());
    firmware.write<std::uint32_t>(at(misc_ram_regs::reg::routing_id), 7);
    EXPECT_FALSE(ram.booting.level());
    irq_out power_lost{"power_lost"};
    power_lost.bind(ram.power_lost);
    power_lost.set(true);
    EXPECT_TRUE(ram.booting.level());
}

TEST_F(MiscRamTest, HostReadOfASampleRaisesWatchedUntilFirmwareWritesTheNext) {
    using misc_ram_regs::reg;
    firmware.read(at(reg::power));
    host.read(at(reg::api_version));
    EXPECT_FALSE(ram.watched.level());
    for (const auto sample : {at(reg::power, 1), at(reg::health_sequence)}) {
        host.read(sample);
        EXPECT_TRUE(ram.watched.level());
        host.write<std::uint32_t>(sample, 1);
        EXPECT_TRUE(ram.watched.level());
        firmware.write<std::uint32_t>(sample, 2);
        EXPECT_FALSE(ram.watched.level());
    }
}

TEST_F(MiscRamTest, HostWriteToAFirmwareWordIsReportedAndInterruptsFirmware) {
    using misc_ram_regs::reg;
    const auto publish = [&] { firmware.write<std::uint32_t>(at(reg::routing_id), 7); };
    std::uint64_t reports = 0;
    for (const auto word :
         {at(reg::api_version), at(reg::routing_id), at(reg::serial_hi), at(reg::hbm_ecc, 3),
          at(reg::power), at(reg::server_id), std::uint64_t{0x2c}, at(reg::build_number),
          at(reg::topology_magic), at(reg::topology_port_expected_id, 7), at(reg::core_ecc, 15),
          at(reg::thermal), at(reg::resets), at(reg::firmware_status)}) {
        publish();
        EXPECT_FALSE(ram.stale.level());
        host.write<std::uint32_t>(word, 0xbad);
        EXPECT_TRUE(ram.stale.level()) << word;
        EXPECT_EQ(misuse::count(misuse::firmware_word_overwritten, "ram"), ++reports) << word;
        EXPECT_EQ(host.read(word), 0xbadu);  // plain RAM
    }
    publish();
    for (const auto word :
         {at(reg::instance), at(reg::reservation_lo), at(reg::runtime), at(reg::ack), at(reg::data),
          at(reg::election_status), at(reg::model_stop), at(reg::reset_map), at(reg::reset_request),
          at(reg::request_0), at(reg::response_lo), at(reg::trigger)})
        host.write<std::uint32_t>(word, 1);
    EXPECT_FALSE(ram.stale.level());
    EXPECT_EQ(misuse::count(misuse::firmware_word_overwritten), reports);
    std::array<std::uint32_t, 2> burst{};  // firmware owns its second word
    host.access(tlm::TLM_WRITE_COMMAND, at(reg::topology_magic) - 4, burst.data(), 8);
    EXPECT_TRUE(ram.stale.level());
    EXPECT_EQ(misuse::count(misuse::firmware_word_overwritten), reports + 1);
}

TEST_F(MiscRamTest, FunctionResetMakesFirmwarePublishAgain) {
    irq_out reset("reset");
    reset.bind(ram.function_reset);
    firmware.write<std::uint32_t>(at(misc_ram_regs::reg::routing_id), 7);
    reset.set(true);
    reset.set(false);
    EXPECT_TRUE(ram.stale.level());
    host.write<std::uint32_t>(at(misc_ram_regs::reg::routing_id), 7);
    EXPECT_TRUE(ram.stale.level());
    firmware.write<std::uint32_t>(at(misc_ram_regs::reg::routing_id), 7);
    EXPECT_FALSE(ram.stale.level());
}

TEST_F(MiscRamTest, UnnamedOffsetsAreRam) {
    host.write<std::uint32_t>(0xf00, 0x12345678);
    EXPECT_EQ(firmware.read(0xf00), 0x12345678u);
    EXPECT_EQ(host.read(0x2c), 0u);
}

TEST_F(MiscRamTest, ElectionDataCanBeReadInOneBurst) {
    for (unsigned i = 0; i < 4; ++i) host.write<std::uint32_t>(0x180 + 4 * i, i + 1);
    std::array<std::uint32_t, 4> words{};
    host.access(tlm::TLM_READ_COMMAND, 0x180, words.data(), 16);
    EXPECT_EQ(host.response, tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(words[3], 4u);
}

class SimResetTest : public testing::Test {
protected:
    void SetUp() override {
        host.out.bind(block.host);
        firmware.out.bind(block.firmware);
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
    }
    static constexpr std::uint64_t request = 0x10, map = 0x10, pending = 0x14;
    tlm_driver host{"host"}, firmware{"firmware"};
    sim_reset block{"block", {.access_latency = sc_core::SC_ZERO_TIME}};
};

TEST_F(SimResetTest, KeepsItsRegisterContracts) {
    register_contract(host, sim_reset_regs::table).check();
    register_contract(firmware, sim_reset_firmware_regs::table).check();
}

TEST_F(SimResetTest, CoreResetReadsBackItsMapUntilFirmwareIsDone) {
    host.write<std::uint32_t>(request, 0x010101);
    EXPECT_TRUE(block.request.level());
    EXPECT_EQ(host.read(request), 0x010101u);
    EXPECT_EQ(firmware.read(map), 0x010101u);
    EXPECT_EQ(firmware.read(pending), 1u);
    firmware.write<std::uint32_t>(map, 0);
    EXPECT_FALSE(block.request.level());
    EXPECT_EQ(host.read(request), 0u);
    EXPECT_EQ(firmware.read(pending), 0u);
}

TEST_F(SimResetTest, WholeChipResetIsDoneWhenFirmwareReportsIt) {
    host.write<std::uint32_t>(request, 0);
    EXPECT_TRUE(block.request.level());
    EXPECT_EQ(firmware.read(map), 0u);
    EXPECT_EQ(host.read(request), sim_reset::whole_chip);
    firmware.write<std::uint32_t>(map, 0);
    EXPECT_EQ(host.read(request), 0u);
}

TEST_F(SimResetTest, RequestsDuringAResetArePerformedAfterIt) {
    host.write<std::uint32_t>(request, 0x1);
    EXPECT_EQ(firmware.read(map), 0x1u);
    host.write<std::uint32_t>(request, 0x2);
    host.write<std::uint32_t>(request, 0x4);
    EXPECT_EQ(firmware.read(map), 0x1u) << "firmware performs this request";
    firmware.write<std::uint32_t>(map, 0);
    EXPECT_TRUE(block.request.level());
    EXPECT_EQ(firmware.read(pending), 1u);
    EXPECT_EQ(firmware.read(map), 0x6u);
    EXPECT_EQ(host.read(request), 0x6u) << "the host waits for its request";
    host.write<std::uint32_t>(request, 0x8);
    host.write<std::uint32_t>(request, 0);
    host.write<std::uint32_t>(request, 0x10);
    firmware.write<std::uint32_t>(map, 0);
    EXPECT_EQ(firmware.read(map), 0u) << "the whole chip";
    EXPECT_EQ(host.read(request), sim_reset::whole_chip);
    firmware.write<std::uint32_t>(map, 0);
    EXPECT_FALSE(block.request.level());
    EXPECT_EQ(host.read(request), 0u);
    EXPECT_EQ(firmware.read(pending), 0u);
}

TEST_F(SimResetTest, LossOfPowerEndsTheRequests) {
    irq_out power_lost{"power_lost"};
    power_lost.bind(block.power_lost);
    host.write<std::uint32_t>(request, 0x1);
    host.write<std::uint32_t>(request, 0x2);
    power_lost.set(true);
    power_lost.set(false);
    EXPECT_FALSE(block.request.level());
    EXPECT_EQ(host.read(request), 0u);
    EXPECT_EQ(firmware.read(pending), 0u);
}

TEST_F(MiscRamTest, LossOfPowerClearsAllWordsAndLines) {
    using misc_ram_regs::reg;
    irq_out power_lost{"power_lost"};
    power_lost.bind(ram.power_lost);
    firmware.write<std::uint32_t>(at(reg::routing_id), 7);
    host.write<std::uint32_t>(at(reg::election_status), 5);
    host.write<std::uint32_t>(0xabc, 6);  // an unnamed word
    host.write<std::uint32_t>(at(reg::trigger), 1);
    host.write<std::uint32_t>(at(reg::api_version), 1);
    host.read(at(reg::power));
    EXPECT_TRUE(ram.doorbell.level() && ram.watched.level() && ram.stale.level());
    power_lost.set(true);
    EXPECT_FALSE(ram.doorbell.level() || ram.watched.level() || ram.stale.level());
    EXPECT_TRUE(ram.booting.level());
    EXPECT_FALSE(ram.ready());
    for (std::uint64_t word = 0; word < 0x1000; word += 4)
        EXPECT_EQ(host.read(word), word == at(reg::routing_id) ? 0xdeadbeef : 0u) << word;
}

}  // namespace

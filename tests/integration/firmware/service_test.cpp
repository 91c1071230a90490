// SPDX-License-Identifier: Apache-2.0
// Services of the booted firmware for the host: contract sections 2, 4, 5 and 12.
#include <cstring>

#include "models/dma/udma/udma_regs.h"
#include "models/memory/hbm/hbm_regs.h"
#include "models/soc/misc_ram/sim_reset_regs.h"
#include "platform/framework/log.h"
#include "tests/integration/firmware/management_fixture.h"

extern "C" {
#define _Static_assert static_assert
#include "firmware/lib/crc32c.h"
#include "firmware/mgmt/mailbox.h"
#include "models/misuse_rules.h"
#include "platform/framework/misuse/misuse.h"
}

namespace {

using namespace trn;
using test::axi_dma_engine;
using test::management_fixture;
using bytes = std::vector<std::uint8_t>;

struct ServiceTest : management_fixture {
    static constexpr std::uint64_t request_at = 0x1000, response_at = 0x2000;  // host memory
    std::uint8_t* host_bytes(std::uint64_t at) { return chip->host_memory.bytes().data() + at; }

    static mailbox_header header_for(std::uint8_t sequence, std::uint8_t command,
                                     const bytes& data) {
        mailbox_header header{sequence, command,
                              static_cast<std::uint16_t>(sizeof(mailbox_header) + data.size()), 0};
        const auto crc = crc32c_update(CRC32C_START, &header, sizeof header);
        header.crc = crc32c_finish(crc32c_update(crc, data.data(), data.size()));
        return header;
    }
    void post_legacy(const mailbox_header& header, const bytes& data) {
        const std::uint64_t from = AXI_HOST_WINDOW | request_at, to = AXI_HOST_WINDOW | response_at;
        set_misc(misc::request_1, static_cast<std::uint32_t>(from));
        set_misc(misc::request_0, static_cast<std::uint32_t>(from >> 32));
        set_misc(misc::response_lo, static_cast<std::uint32_t>(to));
        set_misc(misc::response_hi, static_cast<std::uint32_t>(to >> 32));
        std::memcpy(host_bytes(request_at), &header, sizeof header);
        std::copy(data.begin(), data.end(), host_bytes(request_at + sizeof header));
        *host_bytes(response_at) = 0;
        set_misc(misc::trigger, 1);
    }
    /// The response, after its sequence byte has been written.
    mailbox_answer legacy_answer(std::uint8_t sequence) {
        EXPECT_TRUE(run_until([&] { return *host_bytes(response_at) == sequence; }, 10));
        mailbox_answer answer;
        std::memcpy(&answer, host_bytes(response_at), sizeof answer);
        return answer;
    }
    mailbox_answer modern(const mailbox_header& header, const bytes& data) {
        for (std::size_t i = 0; i < data.size(); i += 4) {
            std::uint32_t word = 0;
            std::memcpy(&word, data.data() + i, std::min<std::size_t>(4, data.size() - i));
            set_misc(misc::data, word, static_cast<unsigned>(i / 4));
        }
        std::uint32_t words[2];
        std::memcpy(words, &header, sizeof words);
        set_misc(misc::request_0, words[0]);
        set_misc(misc::request_1, words[1]);
        set_misc(misc::response_hi, 0);
        set_misc(misc::response_lo, 0);
        set_misc(misc::ack, 1);
        set_misc(misc::trigger, 1);
        EXPECT_TRUE(run_until([&] { return misc_word(misc::trigger) == 0; }, 10));
        words[0] = misc_word(misc::request_0);
        mailbox_answer answer;
        std::memcpy(&answer, words, sizeof answer);
        return answer;
    }
    std::uint32_t engine_word(unsigned engine, udma_regs::reg r) {
        return host->read(axi_dma_engine(engine) + udma_regs::offset(r));
    }
};

TEST_F(ServiceTest, ReadsRegistersForTheLegacyMailbox) {
    boot();
    const std::uint64_t wanted[] = {AXI_MISC_RAM + 0x00, AXI_MISC_RAM + 0x38};
    bytes data(sizeof wanted);
    std::memcpy(data.data(), wanted, sizeof wanted);
    post_legacy(header_for(7, MAILBOX_READ_REGISTERS, data), data);
    const auto answer = legacy_answer(7);
    EXPECT_EQ(answer.error, MAILBOX_OK);
    EXPECT_EQ(answer.size, 12);
    std::uint32_t words[2];
    std::memcpy(words, host_bytes(response_at + 4), sizeof words);
    EXPECT_EQ(words[0], 7u);
    EXPECT_EQ(words[1], 0x89abcdefu);
}

TEST_F(ServiceTest, AnswersBadRequestsOfTheLegacyMailbox) {
    boot();
    const bytes nowhere(8, 0);
    post_legacy(header_for(1, MAILBOX_READ_REGISTERS, nowhere), nowhere);
    EXPECT_EQ(legacy_answer(1).error, MAILBOX_FAILED);

    const bytes hole{0x00, 0x00, 0x00, 0x00, 0x80, 0, 0, 0};  // AXI 0x8000000000: unmapped
    post_legacy(header_for(2, MAILBOX_READ_REGISTERS, hole), hole);
    EXPECT_EQ(legacy_answer(2).error, MAILBOX_FAILED);

    auto header = header_for(3, MAILBOX_POST_METRIC, {1, 1, 'x'});
    header.crc ^= 0x100;
    post_legacy(header, {1, 1, 'x'});
    EXPECT_EQ(legacy_answer(3).error, MAILBOX_FAILED);

    post_legacy(header_for(4, 99, {}), {});
    EXPECT_EQ(legacy_answer(4).error, MAILBOX_UNKNOWN_COMMAND);
    EXPECT_EQ(misuse::count(misuse::mailbox_bad_crc), 1u);
    EXPECT_EQ(misuse::count(misuse::mailbox_unknown_command), 1u);
    auto short_one = header_for(6, MAILBOX_POST_METRIC, {});
    short_one.size = 3;
    post_legacy(short_one, {});
    EXPECT_EQ(legacy_answer(6).error, MAILBOX_FAILED);
    EXPECT_EQ(misuse::count(misuse::mailbox_bad_request), 1u);
    EXPECT_EQ(misuse::count(misuse::mailbox_overrun), 0u);

    post_legacy(header_for(5, MAILBOX_POST_METRIC, {1, 1, 'x'}), {1, 1, 'x'});
    EXPECT_EQ(legacy_answer(5).error, MAILBOX_OK);
}

TEST_F(ServiceTest, SurvivesAMailboxWithAnInvalidAddress) {
    boot();
    set_misc(misc::request_1, 0xfffff000);
    set_misc(misc::request_0, 0x4fff);
    set_misc(misc::response_lo, 0xfffff000);
    set_misc(misc::response_hi, 0x4fff);
    set_misc(misc::trigger, 1);
    EXPECT_TRUE(run_until([&] { return misc_word(misc::trigger) == 0; }, 10));
    post_legacy(header_for(9, MAILBOX_POST_METRIC, {}), {});
    EXPECT_EQ(legacy_answer(9).error, MAILBOX_OK);
}

TEST_F(ServiceTest, ServesTheNewMailbox) {
    boot();
    const auto set = modern(header_for(1, MAILBOX_SET_POWER_PROFILE, {0, 0, 0, 0, 3, 0, 0, 0}),
                            {0, 0, 0, 0, 3, 0, 0, 0});
    EXPECT_EQ(set.sequence, 1);
    EXPECT_EQ(set.error, MAILBOX_OK);
    EXPECT_EQ(set.size, 4);
    const auto get = modern(header_for(2, MAILBOX_GET_DATA, {1}), {1});
    EXPECT_EQ(get.size, 8);
    EXPECT_EQ(misc_word(misc::data), 3u);
    EXPECT_EQ(modern(header_for(3, MAILBOX_SET_FEATURE, {1}), {1}).error, MAILBOX_OK);

    auto bad = header_for(4, MAILBOX_SET_FEATURE, {1});
    bad.crc = ~bad.crc;
    EXPECT_EQ(modern(bad, {1}).error, MAILBOX_FAILED);
    EXPECT_EQ(modern(header_for(5, 77, {}), {}).error, MAILBOX_UNKNOWN_COMMAND);
}

TEST_F(ServiceTest, DeviceResetHandshakeClearsTheRequestAndThenTheStatusBit) {
    boot();
    set_misc(misc::election_status, 0x04030103);
    host->write<std::uint32_t>(axi_dma_engine(40) + 0x21028, 0x12345600);  // a ring base
    set_misc(misc::reset_request, 1);
    set_misc(misc::trigger, 1);
    EXPECT_TRUE(run_until([&] { return misc_word(misc::reset_request) == 0; }, 10));
    EXPECT_TRUE(run_until([&] { return misc_word(misc::firmware_status) == 0; }, 1));
    EXPECT_EQ(host->read(axi_dma_engine(40) + 0x21028), 0u);
    EXPECT_EQ(misc_word(misc::election_status), 0x04030103u);
    EXPECT_EQ(misc_word(misc::routing_id), 9u);
    EXPECT_FALSE(chip->resets.dma_reset[0].level());
}

TEST_F(ServiceTest, DeviceResetRestoresTheIdentityWords) {
    boot();
    const auto words = {misc::api_version, misc::routing_id, misc::serial_lo, misc::serial_hi,
                        misc::server_id};
    std::vector<std::uint32_t> before;
    for (const auto word : words) before.push_back(misc_word(word));
    for (const auto word : words) set_misc(word, 0x0bad'0bad);
    set_misc(misc::election_status, 0x0402'0303);  // written by the host
    set_misc(misc::reset_request, 1);
    set_misc(misc::trigger, 1);
    ASSERT_TRUE(run_until([&] { return misc_word(misc::reset_request) == 0; }, 10));
    std::vector<std::uint32_t> after;
    for (const auto word : words) after.push_back(misc_word(word));
    EXPECT_EQ(after, before);
    EXPECT_EQ(misc_word(misc::election_status), 0x0402'0303u);
}

TEST_F(ServiceTest, CoreResetAffectsOnlyTheDomainsOfItsMap) {
    boot();
    const auto ring_base = [](unsigned engine) { return axi_dma_engine(engine) + 0x21028; };
    for (const unsigned engine : {0u, 15u, 16u, 31u, 128u})
        host->write<std::uint32_t>(ring_base(engine), 0x100 * engine + 0x100);
    set_misc(misc::reset_map, 0x020202);  // core 1: engines 16 to 31
    set_misc(misc::reset_request, 2);
    set_misc(misc::trigger, 1);
    EXPECT_TRUE(run_until([&] { return misc_word(misc::reset_request) == 0; }, 10));
    EXPECT_EQ(host->read(ring_base(15)), 0x1000u);
    EXPECT_EQ(host->read(ring_base(16)), 0u);
    EXPECT_EQ(host->read(ring_base(31)), 0u);
    EXPECT_EQ(host->read(ring_base(128)), 0x8100u);  // shared with core 0
}

TEST_F(ServiceTest, ResetAndMailboxRequestAreServedByOneInterrupt) {
    boot();
    set_misc(misc::reset_request, 1);
    post_legacy(header_for(3, MAILBOX_POST_METRIC, {}), {});
    EXPECT_EQ(legacy_answer(3).error, MAILBOX_OK);
    EXPECT_TRUE(run_until([&] { return misc_word(misc::reset_request) == 0; }, 10));
}

TEST_F(ServiceTest, SimulatorResetWordReadsZeroWhenTheResetIsDone) {
    boot();
    const std::uint64_t word = AXI_SIMULATOR_RESET;
    for (const std::uint32_t map : {0u, 0x030303u}) {
        host->write<std::uint32_t>(axi_dma_engine(128) + 0x21028, 0x5500);
        host->write<std::uint32_t>(word, map);
        EXPECT_NE(host->read(word), 0u);
        EXPECT_TRUE(run_until([&] { return host->read(word) == 0; }, 10));
        EXPECT_EQ(host->read(axi_dma_engine(128) + 0x21028), 0u);
    }
}

TEST_F(ServiceTest, HbmErrorsAppearInMiscRamAndInTheErrorLog) {
    boot();
    EXPECT_EQ(misc_word(misc::hbm_ecc, 2), 0u);
    chip->stacks[2]->inject("hbm_corrected", {{"offset", "64"}});
    host->read(AXI_DIE_1 + 64);
    EXPECT_TRUE(run_until([&] { return misc_word(misc::hbm_ecc, 2) == 0x10000; }, 10))
        << std::hex << misc_word(misc::hbm_ecc, 2);
    EXPECT_EQ(misc_word(misc::health_status), 0u);
    chip->stacks[2]->inject("hbm_uncorrected", {{"offset", "4096"}});
    host->read(AXI_DIE_1 + 4096);
    chip->stacks[2]->inject("hbm_repairable", {{"offset", "8192"}});
    host->read(AXI_DIE_1 + 8192);
    EXPECT_TRUE(run_until([&] { return misc_word(misc::hbm_ecc, 2) == 0x11001; }, 10))
        << std::hex << misc_word(misc::hbm_ecc, 2);
    EXPECT_EQ(misc_word(misc::hbm_repair), 1u);
    EXPECT_EQ(misc_word(misc::health_status), misc_ram_regs::health_status::hbm.mask());
    EXPECT_TRUE(run_until_printed("HBM stack 2"));
    EXPECT_EQ(host->read(AXI_MISC_RAM + 0x900), 0x4c455254u);
    EXPECT_GE(host->read(AXI_MISC_RAM + 0x908), 1u);
}

TEST_F(ServiceTest, DeviceResetRepairsPendingHbmRows) {
    boot();
    chip->stacks[1]->inject("hbm_repairable", {{"offset", "64"}});
    host->read(0x4000000000 + 64);
    EXPECT_TRUE(run_until([&] { return misc_word(misc::hbm_repair) == 1; }, 10));
    EXPECT_EQ(misc_word(misc::hbm_ecc, 1), 1u);
    set_misc(misc::reset_request, 1);
    set_misc(misc::trigger, 1);
    EXPECT_TRUE(run_until([&] { return misc_word(misc::reset_request) == 0; }, 50));
    EXPECT_EQ(misc_word(misc::hbm_repair), 0u);
    EXPECT_EQ(misc_word(misc::hbm_ecc, 1), 0u);
}

TEST_F(ServiceTest, FailedRepairIsPublished) {
    boot();
    chip->stacks[0]->inject("hbm_repairable", {{"offset", "0"}});
    chip->stacks[0]->inject("hbm_repair_fails", {});
    host->read(0);
    EXPECT_TRUE(run_until([&] { return misc_word(misc::hbm_repair) == 1; }, 10));
    set_misc(misc::reset_request, 1);
    set_misc(misc::trigger, 1);
    EXPECT_TRUE(run_until([&] { return misc_word(misc::reset_request) == 0; }, 50));
    EXPECT_EQ(misc_word(misc::hbm_repair), 2u);
    EXPECT_EQ(misc_word(misc::hbm_ecc, 0), 0x1000u);  // beyond repair now
    EXPECT_EQ(misc_word(misc::health_status), misc_ram_regs::health_status::hbm.mask());
    EXPECT_TRUE(run_until_printed("HBM stack 0: repair failed"));
}

TEST_F(ServiceTest, DmaAbortsAreLoggedWithTheirEngine) {
    boot();
    chip->engines[1]->abort_queue(5, 0);
    EXPECT_TRUE(run_until_printed("DMA engine 37 aborted", 10)) << console;
    set_misc(misc::reset_request, 1);
    set_misc(misc::trigger, 1);
    EXPECT_TRUE(run_until([&] { return misc_word(misc::reset_request) == 0; }, 10));
    chip->engines[4]->abort_queue(1, 0);  // reported again after the reset
    EXPECT_TRUE(run_until_printed("DMA engine 129 aborted", 10)) << console;
}

TEST_F(ServiceTest, HotDiodeIsReportedOnce) {
    boot();
    chip->sensors.inject("temperature", {{"diode", "1"}, {"kelvin", "72"}});
    EXPECT_TRUE(run_until_printed("die 1 is", 100)) << console;
    EXPECT_EQ(misc_word(misc::thermal), 0x10002u);
    chip->sensors.inject("temperature", {{"diode", "1"}, {"kelvin", "0"}});
    EXPECT_TRUE(run_until([&] { return misc_word(misc::thermal) == 0x10000; }, 300));
}

TEST_F(ServiceTest, ResetReasonAndDeviceResetsAreCounted) {
    using namespace misc_ram_regs::resets;
    boot();
    EXPECT_EQ(misc_word(misc::resets), 1u);  // power-on
    set_misc(misc::reset_request, 1);
    set_misc(misc::trigger, 1);
    EXPECT_TRUE(run_until([&] { return misc_word(misc::reset_request) == 0; }, 50));
    EXPECT_EQ(misc_word(misc::resets), device.set(1, 1));
}

TEST_F(ServiceTest, WordsThatTheHostOverwritesArePublishedAgain) {
    boot();
    for (const misc word : {misc::core_ecc, misc::thermal, misc::resets}) {
        const auto published = misc_word(word);
        set_misc(word, 0x50005);
        EXPECT_TRUE(run_until([&] { return misc_word(word) == published; }, 10));
    }
}

TEST_F(ServiceTest, ThermalTripResetsTheChipAndItBootsAgain) {
    boot();
    set_misc(misc::reset_request, 1);
    set_misc(misc::trigger, 1);
    EXPECT_TRUE(run_until([&] { return misc_word(misc::reset_request) == 0; }, 50));
    chip->sensors.inject("temperature", {{"diode", "4"}, {"kelvin", "72"}});
    EXPECT_TRUE(run_until([&] { return misc_word(misc::thermal) == 0x10010; }, 100));
    chip->sensors.inject("temperature", {{"diode", "4"}, {"kelvin", "100"}});
    run_ms(1);
    chip->sensors.inject("temperature", {{"diode", "4"}, {"kelvin", "0"}});
    EXPECT_TRUE(run_until_printed("reset by thermal trip")) << console;
    using namespace misc_ram_regs::resets;
    const auto once_by_heat = device.set(misc_ram_regs::resets::chip.set(1 << 3, 1), 1);
    EXPECT_TRUE(run_until([&] { return misc_word(misc::resets) == once_by_heat; }, 100));
    EXPECT_TRUE(run_until([&] { return misc_word(misc::routing_id) == 9; }, 100));
    EXPECT_EQ(misc_word(misc::thermal), 0u);
}

/// The host can write every word of misc RAM, and buggy firmware can access all local devices. Each
/// access must complete without a crash.
TEST_F(ServiceTest, EveryLocalDeviceAnswersEveryAccess) {
    build();
    const auto loud = trn::log::replace_sink({});
    run_ms(0.1);
    for (const std::uint64_t device :
         {MAP_UART, MAP_WATCHDOG, MAP_SENSORS, MAP_FLASH_REGS, MAP_RESET_CONTROLLER,
          MAP_SIMULATOR_RESET, MAP_MISC_RAM, MAP_MISUSE_PORT, MAP_HBM_CTRL, MAP_DIE_TO_DIE,
          MAP_ACLINT + 0x4000, MAP_PLIC + 0x200000, MAP_BOOT_ROM, MAP_FLASH_WINDOW, 0x7fff0000}) {
        for (std::uint64_t at = 0; at < 0x1000; at += 4) {
            for (const std::uint64_t value : {~0ull, 0ull, 0x0badc0de600df00dull, 0x5a5a5a5aull}) {
                debugger->write(device + at, static_cast<std::uint32_t>(value));
                debugger->write(device + at, value);
            }
            debugger->write<std::uint8_t>(device + at + 1, 0xff);
            debugger->read<std::uint16_t>(device + at);
            debugger->read<std::uint64_t>(device + at);
            EXPECT_NE(debugger->response, tlm::TLM_INCOMPLETE_RESPONSE);
        }
        run_ms(0.5);
    }
    trn::log::replace_sink(loud);
}

TEST_F(ServiceTest, GarbageInEveryWordOfMiscRamDoesNotStopTheFirmware) {
    boot();
    for (unsigned round = 0; round < 8; ++round) {
        for (std::uint64_t at = 0x30; at < 0x800; at += 4)
            host->write<std::uint32_t>(AXI_MISC_RAM + at,
                                       static_cast<std::uint32_t>(0x9e3779b9 * (at + round)));
        set_misc(misc::reset_request, round % 2 != 0 ? round : 0);
        set_misc(misc::trigger, round + 1);
        run_ms(1);
    }
    const bytes metric{1, 1, 'x'};
    post_legacy(header_for(9, MAILBOX_POST_METRIC, metric), metric);
    EXPECT_EQ(legacy_answer(9).error, MAILBOX_OK);
    EXPECT_EQ(console.find("panic"), std::string::npos);
}

}  // namespace

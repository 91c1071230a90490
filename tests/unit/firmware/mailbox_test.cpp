// SPDX-License-Identifier: Apache-2.0
// The mailbox from the driver's side (contract sections 4.2 to 4.4), using the test's memory.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

extern "C" {
#define _Static_assert static_assert
#include "firmware/lib/axi_map.h"
#include "firmware/lib/crc32c.h"
#include "firmware/lib/drivers/misuse.h"
#include "firmware/mgmt/cc_cores.h"
#include "firmware/mgmt/generation.h"
#include "firmware/mgmt/mailbox.h"
#include "firmware/mgmt/metrics.h"
#include "firmware/mgmt/misc_ram.h"
#include "firmware/mgmt/power.h"
#include "firmware/mgmt/reset_service.h"
}

namespace {

/// AXI space that contains the bytes written, in the order of their writes.
struct axi_space {
    std::map<std::uint64_t, std::uint8_t> bytes;
    std::vector<std::uint64_t> writes;
};
axi_space space;
std::uint8_t profile = 0;
bool throttling = false;
std::vector<std::uint32_t> reported;
std::vector<std::uint64_t> cc_asked;

}  // namespace

extern "C" {
bool axi_read(uint64_t address, void* to, size_t length) {
    for (size_t i = 0; i < length; ++i) {
        const auto found = space.bytes.find(address + i);
        if (found == space.bytes.end()) return false;
        static_cast<uint8_t*>(to)[i] = found->second;
    }
    return true;
}
bool axi_write(uint64_t address, const void* from, size_t length) {
    for (size_t i = 0; i < length; ++i) {
        if (!space.bytes.contains(address + i)) return false;
        space.bytes[address + i] = static_cast<const uint8_t*>(from)[i];
        space.writes.push_back(address + i);
    }
    return true;
}
uint32_t misc_ram_read(uintptr_t address) {
    uint32_t value = 0;
    EXPECT_TRUE(axi_read(address - MAP_MISC_RAM + AXI_MISC_RAM, &value, sizeof value));
    return value;
}
void misc_ram_write(uintptr_t address, uint32_t value) {
    EXPECT_TRUE(axi_write(address - MAP_MISC_RAM + AXI_MISC_RAM, &value, sizeof value));
}
void log_line(int, const char*, ...) {}
unsigned cc_cores_load(uint64_t address, uint32_t length, uint32_t cores) {
    cc_asked = {address, length, cores};
    return CC_LOAD_NO_CORE;
}
void misuse_report(uint32_t rule, uint32_t) {
    reported.push_back(rule);
}
bool power_set_profile(uint8_t wanted) {
    if (wanted > 3) return false;
    profile = wanted;
    return true;
}
uint8_t power_profile(void) {
    return profile;
}
uint32_t power_profiles_available(void) {
    return 0xf;
}
void power_notify_throttling(bool wanted) {
    throttling = wanted;
}
}

namespace {

/// Address of misc RAM's words for every initiator except the processor.
#undef MISC_RAM
#undef MISC_RAM_AT
#define MISC_RAM(reg) (AXI_MISC_RAM + TRN_MISC_RAM_##reg##_OFFSET)
#define MISC_RAM_AT(reg, index) (AXI_MISC_RAM + TRN_MISC_RAM_##reg##_OFFSET(index))

constexpr std::uint64_t request_at = AXI_HOST_WINDOW | 0x1000;
constexpr std::uint64_t response_at = AXI_HOST_WINDOW | 0x2000;

struct MailboxTest : testing::Test {
    MailboxTest() {
        EXPECT_TRUE(generation_select(4));
        for (std::uint64_t i = 0; i < 0x1000; ++i) space.bytes[AXI_MISC_RAM + i] = 0;
        for (std::uint64_t i = 0; i < 0x1000; ++i) space.bytes[request_at + i] = 0;
        for (std::uint64_t i = 0; i < 0x1000; ++i) space.bytes[response_at + i] = 0;
    }
    static void put(std::uint64_t at, const void* bytes, std::size_t length) {
        ASSERT_TRUE(axi_write(at, bytes, length));
        space.writes.clear();
    }
    static std::uint32_t word(std::uint64_t at) {
        std::uint32_t value = 0;
        EXPECT_TRUE(axi_read(at, &value, sizeof value));
        return value;
    }
    static void set(std::uint64_t at, std::uint32_t value) { put(at, &value, sizeof value); }

    static mailbox_header header_for(std::uint8_t sequence, std::uint8_t command,
                                     const std::vector<std::uint8_t>& data) {
        mailbox_header header{sequence, command,
                              static_cast<std::uint16_t>(sizeof(mailbox_header) + data.size()), 0};
        std::uint32_t crc = crc32c_update(CRC32C_START, &header, sizeof header);
        header.crc = crc32c_finish(crc32c_update(crc, data.data(), data.size()));
        return header;
    }
    /// Posts a request as the driver does: addresses, request, zeroed response.
    static void post_legacy(const mailbox_header& header, const std::vector<std::uint8_t>& data) {
        set(MISC_RAM(REQUEST_1), static_cast<std::uint32_t>(request_at));
        set(MISC_RAM(REQUEST_0), static_cast<std::uint32_t>(request_at >> 32));
        set(MISC_RAM(RESPONSE_LO), static_cast<std::uint32_t>(response_at));
        set(MISC_RAM(RESPONSE_HI), static_cast<std::uint32_t>(response_at >> 32));
        put(request_at, &header, sizeof header);
        put(request_at + sizeof header, data.data(), data.size());
        set(response_at, 0);
    }
    static mailbox_answer legacy_answer() {
        mailbox_answer answer{};
        EXPECT_TRUE(axi_read(response_at, &answer, sizeof answer));
        return answer;
    }
    static mailbox_answer modern(const mailbox_header& header,
                                 const std::vector<std::uint8_t>& data) {
        put(MISC_RAM_AT(DATA, 0), data.data(), data.size());
        put(MISC_RAM(REQUEST_0), &header, sizeof header);
        set(MISC_RAM(RESPONSE_LO), 0);
        set(MISC_RAM(RESPONSE_HI), 0);
        set(MISC_RAM(ACK), 1);
        EXPECT_TRUE(mailbox_serve(MAILBOX_ANSWER_ALL));
        EXPECT_EQ(word(MISC_RAM(ACK)), 0u);
        const std::uint32_t first = word(MISC_RAM(REQUEST_0));
        mailbox_answer answer;
        std::memcpy(&answer, &first, sizeof answer);
        return answer;
    }
    static std::vector<std::uint8_t> addresses(const std::vector<std::uint64_t>& list) {
        std::vector<std::uint8_t> bytes(list.size() * 8);
        std::memcpy(bytes.data(), list.data(), bytes.size());
        return bytes;
    }
};

TEST_F(MailboxTest, ReadsDieZeroRegistersAndWritesTheSequenceLast) {
    set(MISC_RAM(API_VERSION), 7);
    set(MISC_RAM(SERIAL_LO), 0x1234);
    const auto data = addresses({MISC_RAM(API_VERSION), MISC_RAM(SERIAL_LO)});
    post_legacy(header_for(5, MAILBOX_READ_REGISTERS, data), data);
    EXPECT_TRUE(mailbox_serve(MAILBOX_ANSWER_ALL));
    const auto answer = legacy_answer();
    EXPECT_EQ(answer.sequence, 5);
    EXPECT_EQ(answer.error, MAILBOX_OK);
    EXPECT_EQ(answer.size, 12);
    EXPECT_EQ(word(response_at + 4), 7u);
    EXPECT_EQ(word(response_at + 8), 0x1234u);
    EXPECT_EQ(space.writes.back(), response_at);
}

TEST_F(MailboxTest, DoesNotAnswerTheSameRequestTwice) {
    const auto data = addresses({MISC_RAM(API_VERSION)});
    post_legacy(header_for(1, MAILBOX_READ_REGISTERS, data), data);
    EXPECT_TRUE(mailbox_serve(MAILBOX_ANSWER_ALL));
    EXPECT_FALSE(mailbox_serve(MAILBOX_ANSWER_ALL));
}

TEST_F(MailboxTest, AnswersABadCrcWithFailedUnlessOnlyValidRequestsAreServed) {
    const auto data = addresses({MISC_RAM(API_VERSION)});
    auto header = header_for(9, MAILBOX_READ_REGISTERS, data);
    header.crc ^= 1;
    post_legacy(header, data);
    EXPECT_FALSE(mailbox_serve(MAILBOX_ONLY_VALID));
    EXPECT_EQ(legacy_answer().sequence, 0);
    EXPECT_TRUE(mailbox_serve(MAILBOX_ANSWER_ALL));
    EXPECT_EQ(legacy_answer().error, MAILBOX_FAILED);
    EXPECT_EQ(legacy_answer().sequence, 9);
    EXPECT_EQ(legacy_answer().size, 4);
    EXPECT_EQ(mailbox_counters.bad_crc, 1u);
}

TEST_F(MailboxTest, RefusesRegistersOutsideTheAllowedRange) {
    std::uint8_t sequence = 1;
    for (const std::uint64_t address : std::vector<std::uint64_t>{
             0, request_at, AXI_APB_IO + AXI_APB_IO_SIZE, AXI_APB_IO - 4, MISC_RAM(API_VERSION) + 2,
             AXI_APB_IO + 0x1000 /* nothing answers there */}) {
        const auto data = addresses({address});
        post_legacy(header_for(sequence, MAILBOX_READ_REGISTERS, data), data);
        EXPECT_TRUE(mailbox_serve(MAILBOX_ANSWER_ALL));
        EXPECT_EQ(legacy_answer().error, MAILBOX_FAILED) << std::hex << address;
        ++sequence;
    }
}

TEST_F(MailboxTest, ReportsAnUnknownCommand) {
    for (const std::uint8_t command : std::vector<std::uint8_t>{0, 3, 4, 5, 6, 255}) {
        post_legacy(header_for(7, command, {}), {});
        EXPECT_TRUE(mailbox_serve(MAILBOX_ANSWER_ALL));
        EXPECT_EQ(legacy_answer().error, MAILBOX_UNKNOWN_COMMAND) << unsigned{command};
    }
    EXPECT_EQ(modern(header_for(1, MAILBOX_READ_REGISTERS, {}), {}).error, MAILBOX_UNKNOWN_COMMAND);
    EXPECT_EQ(modern(header_for(1, 200, {}), {}).error, MAILBOX_UNKNOWN_COMMAND);
}

TEST_F(MailboxTest, SurvivesHeadersWithAWrongSize) {
    for (const unsigned size : {0u, 1u, 7u, 809u, 0xffffu}) {
        auto header = header_for(3, MAILBOX_READ_REGISTERS, {});
        header.size = static_cast<std::uint16_t>(size);
        post_legacy(header, {});
        EXPECT_TRUE(mailbox_serve(MAILBOX_ANSWER_ALL));
        EXPECT_EQ(legacy_answer().error, MAILBOX_FAILED) << size;
        EXPECT_EQ(modern(header, {}).error, MAILBOX_FAILED) << size;
    }
}

TEST_F(MailboxTest, IgnoresAddressesOutsideHostMemoryOrWithoutAnAnswer) {
    const auto data = addresses({MISC_RAM(API_VERSION)});
    const auto header = header_for(5, MAILBOX_READ_REGISTERS, data);
    post_legacy(header, data);
    set(MISC_RAM(REQUEST_0), 0);  // HBM
    EXPECT_FALSE(mailbox_serve(MAILBOX_ANSWER_ALL));
    post_legacy(header, data);
    set(MISC_RAM(RESPONSE_LO), 0xfffffff0);  // unmapped
    EXPECT_FALSE(mailbox_serve(MAILBOX_ANSWER_ALL));
}

TEST_F(MailboxTest, StoresMetricsFromTheRequestOrTheDataArea) {
    const std::vector<std::uint8_t> tlv{1, 3, 'a', 'b', 'c', 7, 2, 'x', 'y'};
    post_legacy(header_for(1, MAILBOX_POST_METRIC, tlv), tlv);
    EXPECT_TRUE(mailbox_serve(MAILBOX_ANSWER_ALL));
    EXPECT_EQ(legacy_answer().error, MAILBOX_OK);
    EXPECT_STREQ(metrics_find(1), "abc");
    EXPECT_STREQ(metrics_find(7), "xy");

    const std::vector<std::uint8_t> area{1, 1, 'z', 0};
    put(MISC_RAM_AT(DATA, 0), area.data(), area.size());
    post_legacy(header_for(2, MAILBOX_POST_METRIC, {}), {});
    EXPECT_TRUE(mailbox_serve(MAILBOX_ANSWER_ALL));
    EXPECT_STREQ(metrics_find(1), "z");
    EXPECT_STREQ(metrics_find(7), "xy");
    EXPECT_EQ(metrics_count(), 2u);
}

TEST_F(MailboxTest, DropsATruncatedMetric) {
    const std::vector<std::uint8_t> tlv{1, 1, 'a', 2, 200, 'b'};
    post_legacy(header_for(1, MAILBOX_POST_METRIC, tlv), tlv);
    EXPECT_TRUE(mailbox_serve(MAILBOX_ANSWER_ALL));
    EXPECT_EQ(legacy_answer().error, MAILBOX_FAILED);
    EXPECT_EQ(metrics_find(1), nullptr);
}

TEST_F(MailboxTest, SetsAndReturnsThePowerProfile) {
    std::vector<std::uint8_t> data{0, 0, 0, 0, 2, 0, 0, 0};
    auto answer = modern(header_for(11, MAILBOX_SET_POWER_PROFILE, data), data);
    EXPECT_EQ(answer.sequence, 11);
    EXPECT_EQ(answer.error, MAILBOX_OK);
    EXPECT_EQ(answer.size, 4);
    EXPECT_EQ(profile, 2);

    data[4] = 9;
    EXPECT_EQ(modern(header_for(12, MAILBOX_SET_POWER_PROFILE, data), data).error, MAILBOX_FAILED);
    EXPECT_EQ(profile, 2);

    answer = modern(header_for(13, MAILBOX_GET_DATA, {1}), {1});
    EXPECT_EQ(answer.size, 8);
    EXPECT_EQ(word(MISC_RAM_AT(DATA, 0)), 2u);
    modern(header_for(14, MAILBOX_GET_DATA, {2}), {2});
    EXPECT_EQ(word(MISC_RAM_AT(DATA, 0)), 0xfu);
    EXPECT_EQ(modern(header_for(15, MAILBOX_GET_DATA, {3}), {3}).error, MAILBOX_FAILED);
    EXPECT_EQ(modern(header_for(16, MAILBOX_GET_DATA, {}), {}).error, MAILBOX_FAILED);
}

TEST_F(MailboxTest, NewerReleasesGetRecordsAfterAnEightByteHeader) {
    // {u8 type, u16 operation}: format of releases since 2.27.
    const auto ask = [&](std::uint8_t sequence, const std::vector<std::uint8_t>& request) {
        return modern(header_for(sequence, MAILBOX_GET_DATA, request), request);
    };
    const auto data = [](std::size_t bytes) {
        std::vector<std::uint8_t> all(bytes);
        for (std::size_t n = 0; n < bytes; ++n)
            all[n] = static_cast<std::uint8_t>(word(MISC_RAM_AT(DATA, n / 4)) >> n % 4 * 8);
        return all;
    };
    const auto crc_of_answer = [&](std::size_t bytes) {
        const std::uint32_t header[2] = {word(MISC_RAM(REQUEST_0)), 0};
        const auto all = data(bytes);
        const auto crc = crc32c_update(CRC32C_START, header, sizeof header);
        return crc32c_finish(crc32c_update(crc, all.data(), bytes));
    };
    profile = 2;
    auto answer = ask(1, {1, 0, 0});
    EXPECT_EQ(answer.error, MAILBOX_OK);
    EXPECT_EQ(answer.size, 8 + 8);
    EXPECT_EQ(data(8), (std::vector<std::uint8_t>{0, 0, 0, 0, 2, 0, 0, 0}));
    EXPECT_EQ(word(MISC_RAM(REQUEST_1)), crc_of_answer(8));

    answer = ask(2, {2, 0, 0});
    EXPECT_EQ(answer.size, 8 + 33);
    std::vector<std::uint8_t> four(33);
    four[0] = 4;
    four[1] = 0xf;
    EXPECT_EQ(data(33), four);
    EXPECT_EQ(word(MISC_RAM(REQUEST_1)), crc_of_answer(33));

    EXPECT_EQ(ask(3, {2, 5, 0}).size, 8 + 33);  // profiles with an unknown feature
    EXPECT_EQ(data(33), std::vector<std::uint8_t>(33));
    answer = ask(4, {0x10, 1, 0});
    EXPECT_EQ(answer.error, MAILBOX_FAILED);
    EXPECT_EQ(answer.size, 4);
    EXPECT_EQ(ask(5, {1}).size, 8);  // the format of 2.26.5: four bytes of header, one word
    EXPECT_EQ(word(MISC_RAM_AT(DATA, 0)), 2u);
}

TEST_F(MailboxTest, SetsTheThrottlingFeature) {
    EXPECT_EQ(modern(header_for(1, MAILBOX_SET_FEATURE, {1}), {1}).error, MAILBOX_OK);
    EXPECT_TRUE(throttling);
    EXPECT_EQ(modern(header_for(2, MAILBOX_SET_FEATURE, {0}), {0}).error, MAILBOX_OK);
    EXPECT_FALSE(throttling);
}

TEST_F(MailboxTest, ForwardsCollectiveFirmwareLoadsOverBothProtocols) {
    const std::vector<std::uint8_t> data{8, 7, 6, 5, 4, 3, 2, 1, 0, 2, 0, 0, 3, 0, 1, 0};
    const std::vector<std::uint64_t> asked{0x0102030405060708, 0x200, 0x10003};
    EXPECT_EQ(modern(header_for(1, MAILBOX_CC_LOAD, data), data).error, MAILBOX_OK);
    EXPECT_EQ(cc_asked, asked);
    EXPECT_EQ(word(MISC_RAM_AT(DATA, 0)), static_cast<std::uint32_t>(CC_LOAD_NO_CORE));
    cc_asked.clear();
    set(MISC_RAM(ACK), 0);
    post_legacy(header_for(2, MAILBOX_CC_LOAD, data), data);
    EXPECT_TRUE(mailbox_serve(MAILBOX_ANSWER_ALL));
    EXPECT_EQ(cc_asked, asked);
    EXPECT_EQ(modern(header_for(3, MAILBOX_CC_LOAD, {1}), {1}).error, MAILBOX_FAILED);
}

TEST_F(MailboxTest, AnswersABadCrcOfTheNewProtocolWithFailed) {
    auto header = header_for(4, MAILBOX_SET_FEATURE, {1});
    header.crc += 1;
    EXPECT_EQ(modern(header, {1}).error, MAILBOX_FAILED);
    EXPECT_FALSE(throttling);
    EXPECT_EQ(reported, std::vector<std::uint32_t>{TRN_MISUSE_PORT_REPORT_RULE_MAILBOX_BAD_CRC});
}

TEST_F(MailboxTest, GenerationTwoSupportsTheLegacyProtocolOnly) {
    ASSERT_TRUE(generation_select(2));
    put(MISC_RAM_AT(DATA, 0), "\1", 1);
    const auto header = header_for(7, MAILBOX_SET_FEATURE, {1});
    put(MISC_RAM(REQUEST_0), &header, sizeof header);
    set(MISC_RAM(ACK), 1);
    EXPECT_FALSE(mailbox_serve(MAILBOX_ANSWER_ALL));
    EXPECT_FALSE(throttling);
}

TEST_F(MailboxTest, HostMemoryWindowFollowsTheGeneration) {
    ASSERT_TRUE(generation_select(2));
    post_legacy(header_for(1, MAILBOX_POST_METRIC, {3, 1, 'x'}), {3, 1, 'x'});
    EXPECT_FALSE(mailbox_serve(MAILBOX_ANSWER_ALL)) << "bit 46 is no host address here";
}

TEST(Generation, NewerThanTheFirmwareIsUnknown) {
    EXPECT_FALSE(generation_select(5));
    EXPECT_EQ(generation, nullptr);
}

TEST(ResetMap, NamesTheLinesOfItsCores) {
    ASSERT_TRUE(generation_select(4));
    const auto one = reset_map_domains(0x010101);  // only core 0 uses its host engine
    EXPECT_EQ(one.tpb, 1u);
    EXPECT_EQ(one.dma, 1u);
    EXPECT_EQ(one.top_sp, 1u);
    const auto pair = reset_map_domains(0x0c0c0c);  // cores 2 and 3 share host engine 1
    EXPECT_EQ(pair.dma, 0x20cu);
    const auto die1 = reset_map_domains(0x800000);  // TOP_SPs 14, 15 of the driver are 16, 17
    EXPECT_EQ(die1.top_sp, 1u << 8);
    const auto all = reset_map_domains(0xffffff);
    EXPECT_EQ(all.dma, 0xfffu);
    EXPECT_EQ(all.top_sp, 0x1efu);  // TOP_SPs 8, 9, 18, 19 belong to no core
}

TEST(ResetMap, GenerationTwoListsEachTopSp) {
    ASSERT_TRUE(generation_select(2));
    const auto one = reset_map_domains(0x3802);  // core 1 with TOP_SPs 3 to 5
    EXPECT_EQ(one.tpb, 2u);
    EXPECT_EQ(one.top_sp, 0x38u);
    EXPECT_EQ(one.dma, 0x202u) << "its engines, and host engine 1, which it does not share";
}

}  // namespace

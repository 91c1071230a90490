// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "crc32c.h"
#include "tests/unit/stub/fake_device.h"

namespace trn::test {
namespace {

using testing::HasSubstr;

/// Firmware that serves both mailboxes; each test sets its responses.
struct StubMailbox : testing::Test {
    struct answer {
        bool silent = false;
        std::uint8_t error = 0;
        std::vector<std::uint8_t> data = {};
    };
    fake_device chip;
    trn_device* device = nullptr;
    std::vector<std::vector<std::uint8_t>> requests;
    std::function<answer(const std::vector<std::uint8_t>&)> firmware;
    bool bad_crc = false;

    StubMailbox() {
        const auto transport = chip.transport();
        device = trn_create(&transport, nullptr);
        EXPECT_EQ(trn_probe(device), TRN_OK);
        chip.on_write[fake_device::misc + TRN_MISC_RAM_TRIGGER_OFFSET] = [this](auto) {
            chip.at(20'000, [this] { serve(); });
        };
    }
    ~StubMailbox() override { trn_destroy(device); }

    std::uint32_t& misc(std::uint64_t offset) { return chip.bar0[fake_device::misc + offset]; }
    std::string error() const { return trn_last_error(device); }

    void check(std::vector<std::uint8_t> request) {
        std::uint32_t sent;
        std::memcpy(&sent, &request[4], 4);
        std::memset(&request[4], 0, 4);
        bad_crc |= sent != ~trn_crc32c(0xFFFFFFFF, request.data(), request.size());
        requests.push_back(request);
    }
    void serve() {
        const std::uint64_t response = std::uint64_t{misc(0x1F8)} << 32 | misc(0x1FC);
        response ? serve_legacy(response) : serve_new();
    }
    void serve_legacy(std::uint64_t response) {
        const std::uint64_t address = std::uint64_t{misc(0x1F0)} << 32 | misc(0x1F4);
        auto request = chip.bytes_at(address, 8);
        request = chip.bytes_at(address, request[2] | request[3] << 8);
        check(request);
        auto reply = firmware(request);
        if (reply.silent) return;
        const auto size = static_cast<std::uint16_t>(4 + reply.data.size());
        std::vector<std::uint8_t> bytes{request[0], reply.error, static_cast<std::uint8_t>(size),
                                        static_cast<std::uint8_t>(size >> 8)};
        bytes.insert(bytes.end(), reply.data.begin(), reply.data.end());
        chip.copy(response, bytes.data(), bytes.size(), true);
    }
    void serve_new() {
        std::vector<std::uint8_t> request(8 + 128);
        std::memcpy(request.data(), &misc(0x1F0), 4);
        std::memcpy(request.data() + 4, &misc(0x1F4), 4);
        for (unsigned i = 0; i < 32; ++i) std::memcpy(&request[8 + 4 * i], &misc(0x100 + 4 * i), 4);
        request.resize(request[2] | request[3] << 8);
        check(request);
        auto reply = firmware(request);
        if (reply.silent) return;
        const auto size = static_cast<std::uint32_t>(4 + reply.data.size());
        reply.data.resize(128);
        for (unsigned i = 0; i < 32; ++i) std::memcpy(&misc(0x100 + 4 * i), &reply.data[4 * i], 4);
        misc(0x1F0) = request[0] | std::uint32_t{reply.error} << 8 | size << 16;
        misc(0x800) = 0;
    }
};

TEST_F(StubMailbox, ReadsCountersThroughHostMemory) {
    firmware = [](const auto& request) {
        answer reply;
        for (std::size_t i = 8; i < request.size(); i += 8)
            for (unsigned byte = 0; byte < 4; ++byte) reply.data.push_back(request[i + byte]);
        return reply;
    };
    const std::uint64_t addresses[] = {0x8000000010, 0x8000000020};
    std::uint32_t values[2];
    ASSERT_EQ(trn_read_counters(device, addresses, values, 2), TRN_OK) << error();
    EXPECT_EQ(values[0], 0x10u);
    EXPECT_EQ(values[1], 0x20u);
    EXPECT_FALSE(bad_crc);
    EXPECT_EQ(requests[0][1], 1);
    EXPECT_EQ(requests[0].size(), 24u);
}

TEST_F(StubMailbox, RetriesWithANewSequenceNumberAfterATimeout) {
    firmware = [&](const auto&) { return answer{.silent = requests.size() < 3}; };
    const char metric[] =
        "\x05\x03"
        "abc";
    ASSERT_EQ(trn_post_metric(device, metric, 5), TRN_OK) << error();
    ASSERT_EQ(requests.size(), 3u);
    EXPECT_NE(requests[0][0], requests[1][0]);
    EXPECT_EQ(misc(0x100), 0x62610305u);  // the data area contains the record too
    EXPECT_EQ(misc(0x104), 0x63u);
}

TEST_F(StubMailbox, TimesOutAfterThirtySeconds) {
    firmware = [](const auto&) { return answer{.silent = true}; };
    const auto start = chip.time;
    EXPECT_EQ(trn_post_metric(device, "x", 1), TRN_TIMED_OUT);
    EXPECT_EQ(requests.size(), 30u);
    EXPECT_NEAR(static_cast<double>(chip.time - start), 30e9, 1e9);
}

TEST_F(StubMailbox, ReportsAnUnknownCommandAtOnceAndAFailureAfterAllRetries) {
    firmware = [](const auto&) { return answer{.error = 2}; };
    EXPECT_EQ(trn_post_metric(device, "x", 1), TRN_REFUSED);
    EXPECT_EQ(requests.size(), 1u);
    requests.clear();
    firmware = [](const auto&) { return answer{.error = 1}; };
    EXPECT_EQ(trn_post_metric(device, "x", 1), TRN_REFUSED);
    EXPECT_EQ(requests.size(), 30u);
}

TEST_F(StubMailbox, RefusesAnAnswerOfTheWrongLength) {
    firmware = [](const auto&) { return answer{.data = {1, 2, 3}}; };
    const std::uint64_t address = 0x8000000010;
    std::uint32_t value;
    EXPECT_EQ(trn_read_counters(device, &address, &value, 1), TRN_PROTOCOL_ERROR);
    EXPECT_EQ(trn_read_counters(device, &address, &value, 0), TRN_INVALID_ARGUMENT);
    EXPECT_EQ(trn_read_counters(device, &address, &value, 101), TRN_INVALID_ARGUMENT);
}

TEST_F(StubMailbox, SetsThePowerProfileThroughMiscRam) {
    firmware = [](const auto&) { return answer{}; };
    ASSERT_EQ(trn_set_power_profile(device, 3), TRN_OK) << error();
    EXPECT_FALSE(bad_crc);
    ASSERT_EQ(requests[0].size(), 16u);
    EXPECT_EQ(requests[0][1], 3);
    EXPECT_EQ(requests[0][12], 3);
    EXPECT_EQ(misc(0xF0), 1u);
    ASSERT_EQ(trn_set_throttling_notifications(device, true), TRN_OK);
    EXPECT_EQ(requests[1].size(), 9u);
    EXPECT_EQ(requests[1][8], 1);
}

TEST_F(StubMailbox, ReturnsResponseData) {
    firmware = [](const auto&) { return answer{.data = {9, 8, 7, 6, 5}}; };
    std::uint8_t data[8] = {};
    std::uint32_t size = sizeof data;
    ASSERT_EQ(trn_get_data(device, 1, data, &size), TRN_OK) << error();
    EXPECT_EQ(size, 5u);
    EXPECT_EQ(data[4], 5);
    size = 4;
    EXPECT_EQ(trn_get_data(device, 1, data, &size), TRN_INVALID_ARGUMENT);
}

TEST_F(StubMailbox, RequiresVersionSevenForTheNewProtocol) {
    misc(0) = 6;
    EXPECT_EQ(trn_set_power_profile(device, 3), TRN_NOT_SUPPORTED);
    EXPECT_TRUE(requests.empty());
}

TEST_F(StubMailbox, VersionOfOnesMeansThatTheDeviceIsGone) {
    misc(0) = ~0u;
    std::uint32_t version = 0;
    EXPECT_EQ(trn_get_api_version(device, &version), TRN_DEVICE_GONE);
    EXPECT_THAT(error(), HasSubstr("the device is not present"));
    EXPECT_EQ(trn_set_power_profile(device, 1), TRN_DEVICE_GONE);
    trn_power_sample power;
    EXPECT_EQ(trn_get_power(device, 0, &power), TRN_DEVICE_GONE);
    trn_ecc_counts counts;
    EXPECT_EQ(trn_get_ecc(device, &counts), TRN_DEVICE_GONE);
    EXPECT_TRUE(requests.empty());
}

TEST_F(StubMailbox, RefusesAnAnswerToAnotherRequest) {
    chip.on_write[fake_device::misc + TRN_MISC_RAM_TRIGGER_OFFSET] = [this](auto) {
        misc(0x1F0) = 0x000400ff;
        misc(0x800) = 0;
    };
    EXPECT_EQ(trn_set_power_profile(device, 3), TRN_PROTOCOL_ERROR);
}

TEST(Crc32c, HasThePublishedCheckValue) {
    EXPECT_EQ(~trn_crc32c(0xFFFFFFFF, "123456789", 9), 0xE3069283u);
}

}  // namespace
}  // namespace trn::test

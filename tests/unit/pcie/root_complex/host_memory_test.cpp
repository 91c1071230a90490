// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/root_complex/host_memory.h"

#include <gtest/gtest.h>

#include <ctime>
#include <deque>
#include <numeric>
#include <utility>
#include <vector>

#include "platform/framework/tlm/memory.h"
#include "platform/framework/tlm/memory_port.h"
#include "platform/framework/tlm/route.h"
#include "platform/framework/tlm/set_access.h"
#include "tests/unit/pcie/pcie/pcie_fixture.h"

namespace {

using namespace trn;
using pcie::host_memory;

/// A message carrier that replies when the test requests it.
struct carrier : host_messages {
    struct asked {
        std::uint64_t iova;
        std::uint32_t size;
        answer answered;
    };
    bool read(std::uint64_t iova, std::uint32_t size, answer answered) override {
        if (full) return false;
        questions.push_back({iova, size, std::move(answered)});
        return true;
    }
    bool write(std::uint64_t iova, std::span<const std::uint8_t> bytes) override {
        if (full) return false;
        written.emplace_back(iova, std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
        return true;
    }
    void answer_next(std::vector<std::uint8_t> bytes) {
        const auto question = std::move(questions.front());
        questions.pop_front();
        question.answered(bytes);
    }
    bool full = false;
    std::deque<asked> questions;
    std::vector<std::pair<std::uint64_t, std::vector<std::uint8_t>>> written;
};

struct HostMemoryTest : testing::Test, test::pcie_system {
    HostMemoryTest() {
        std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
        enable();
        sc_core::sc_spawn_options options;
        options.spawn_method();
        options.dont_initialize();
        options.set_sensitivity(&wake);
        sc_core::sc_spawn([this] { ++wake_ups; }, "initiator", &options);
    }
    ~HostMemoryTest() override { root.carry_host_messages(nullptr); }

    /// An access by an initiator that supports deferred replies.
    tlm::tlm_response_status access(tlm::tlm_command command, std::uint64_t address, void* data,
                                    unsigned length) {
        tlm::tlm_generic_payload payload;
        payload.set_command(command);
        payload.set_address(address);
        payload.set_data_ptr(static_cast<unsigned char*>(data));
        payload.set_data_length(length);
        payload.set_streaming_width(length);
        pending.attempt(payload);
        payload.set_extension(&pending);
        engine.out->b_transport(payload, delay);
        payload.clear_extension(&pending);
        if (!pending.is_deferred()) pending.abandon();
        return payload.get_response_status();
    }
    tlm::tlm_response_status read_word(std::uint64_t address) {
        return access(tlm::TLM_READ_COMMAND, address, &word, sizeof word);
    }
    /// Whether the initiator is woken.
    bool wakes() {
        sc_core::sc_start(1, sc_core::SC_NS);
        return std::exchange(wake_ups, 0) > 0;
    }
    int unmap(std::uint64_t iova, std::uint64_t size) {
        int count = 0;
        return root.unmap_host(iova, size, [&](const auto&) { ++count; }) ? count : -1;
    }

    std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(0x3000);
    carrier client;
    sc_core::sc_event wake;
    int wake_ups = 0;
    pending_access pending{wake};
    std::uint32_t word = 0;
};

TEST_F(HostMemoryTest, RangesMayNotOverlapOrWrap) {
    EXPECT_TRUE(root.map_host({0x1000, 0x1000, bytes.data(), true, true}));
    EXPECT_FALSE(root.map_host({0x1fff, 1, nullptr, true, true}));
    EXPECT_FALSE(root.map_host({0x800, 0x801, nullptr, true, true}));
    EXPECT_FALSE(root.map_host({0, 0x10000, nullptr, true, true}));
    EXPECT_FALSE(root.map_host({0x8000, 0, nullptr, true, true}));
    EXPECT_FALSE(root.map_host({~std::uint64_t{0}, 2, nullptr, true, true}));
    EXPECT_TRUE(root.map_host({0x2000, 0x1000, bytes.data(), true, true}));
    EXPECT_TRUE(root.map_host({~std::uint64_t{0} - 0xfff, 0x1000, nullptr, true, true}));
}

TEST_F(HostMemoryTest, AccessesToALostRangeFail) {
    volatile bool lost = false;
    ASSERT_TRUE(root.map_host({0x1000, 0x1000, bytes.data(), true, true}));
    ASSERT_TRUE(root.map_host({0x2000, 0x1000, &bytes[0x1000], true, true, &lost}));
    EXPECT_EQ(read_word(0x1ffe), tlm::TLM_OK_RESPONSE);
    tlm::tlm_dmi dmi;
    EXPECT_TRUE(engine.request_dmi(0x2000, dmi));
    lost = true;
    EXPECT_EQ(read_word(0x1ffe), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(access(tlm::TLM_WRITE_COMMAND, 0x2000, &word, 4), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_FALSE(engine.request_dmi(0x2000, dmi));
    EXPECT_EQ(read_word(0x1000), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(unmap(0x2000, 0x1000), 1);
}

TEST(HostMemory, RefusalsNameTheAttributeOrTheAccess) {
    std::vector<std::uint8_t> bytes(0x1000);
    host_memory memory;
    ASSERT_TRUE(memory.map({0x1000, 0x1000, bytes.data(), true, false}));
    std::uint8_t data[16] = {}, enables[16] = {};
    const auto answer = [&](unsigned width, bool enabled) {
        tlm::tlm_generic_payload request;
        set_access(request, tlm::TLM_READ_COMMAND, 0x1000, data, sizeof data);
        request.set_streaming_width(width);
        if (enabled) request.set_byte_enable_ptr(enables);
        request.set_byte_enable_length(enabled ? sizeof enables : 0);
        memory.transport(request);
        return request.get_response_status();
    };
    EXPECT_EQ(answer(16, false), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(answer(16, true), tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    EXPECT_EQ(answer(8, false), tlm::TLM_BURST_ERROR_RESPONSE);

    tlm::tlm_generic_payload query;
    query.set_address(0x1000);
    route way;
    query.set_extension(&way);
    tlm::tlm_dmi dmi;
    query.set_read();
    EXPECT_TRUE(memory.get_direct_mem_ptr(query, dmi));
    EXPECT_EQ(dmi.get_granted_access(), tlm::tlm_dmi::DMI_ACCESS_READ);
    query.set_write();
    EXPECT_FALSE(memory.get_direct_mem_ptr(query, dmi));
    EXPECT_EQ(dmi.get_granted_access(), tlm::tlm_dmi::DMI_ACCESS_WRITE);
    query.set_address(0x4000);
    EXPECT_FALSE(memory.get_direct_mem_ptr(query, dmi));
    EXPECT_EQ(dmi.get_granted_access(), tlm::tlm_dmi::DMI_ACCESS_READ_WRITE);
    query.clear_extension(&way);
}

/// Records traffic, and answers reads with 0xee.
struct changing_watcher final : traffic_watcher {
    void has_read(std::uint64_t address, std::span<std::uint8_t> bytes) override {
        received.push_back({'r', address, {bytes.begin(), bytes.end()}});
        std::ranges::fill(bytes, std::uint8_t{0xee});
    }
    void has_written(std::uint64_t address, std::span<const std::uint8_t> bytes) override {
        received.push_back({'w', address, {bytes.begin(), bytes.end()}});
    }
    struct moved {
        char direction;
        std::uint64_t address;
        std::vector<std::uint8_t> bytes;
        bool operator==(const moved&) const = default;
    };
    std::vector<moved> received;
};

TEST_F(HostMemoryTest, WatcherSeesEveryAccessAndMayChangeReadData) {
    changing_watcher watcher;
    root.watch_host_memory(&watcher);
    ASSERT_TRUE(root.map_host({0x1000, 0x1000, bytes.data(), true, true}));
    EXPECT_EQ(engine.read(0x1004), 0xeeee'eeeeu);
    EXPECT_EQ(engine.write<std::uint32_t>(0x1008, 0x0403'0201), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(watcher.received, (std::vector<changing_watcher::moved>{
                                    {'r', 0x1004, {4, 5, 6, 7}}, {'w', 0x1008, {1, 2, 3, 4}}}));
    EXPECT_EQ(bytes[4], 4);  // existing ranges stay
    EXPECT_EQ(bytes[8], 1);
    root.watch_host_memory(nullptr);
    EXPECT_EQ(engine.read(0x1004), 0x0706'0504u);
    EXPECT_EQ(watcher.received.size(), 2u);
}

TEST_F(HostMemoryTest, DirectPointersRequireReportingToTheWatcher) {
    changing_watcher watcher;
    memory_port port(engine.out);
    const auto invalidations = engine.invalidations;
    root.watch_host_memory(&watcher);
    // Pointers granted earlier would bypass the watcher.
    EXPECT_EQ(engine.invalidations, invalidations + 1);
    ASSERT_TRUE(root.map_host({0x1000, 0x1000, bytes.data(), true, true}));
    const auto* window = port.find(tlm::TLM_READ_COMMAND, 0x1800);
    ASSERT_NE(window, nullptr);
    ASSERT_EQ(port.access(tlm::TLM_READ_COMMAND, 0x1804, &word, sizeof word, pending, delay),
              memory_port::outcome::done);
    EXPECT_EQ(word, 0xeeee'eeeeu);
    ASSERT_EQ(watcher.received.size(), 1u);
    EXPECT_EQ(watcher.received[0].address, 0x1804u);
}

/// It could reserve no link, and report no access to a watcher. So an access takes the same time
/// whether a session is recorded or not.
TEST_F(HostMemoryTest, InitiatorThatDoesNotCollectItsRouteGetsNoPointer) {
    changing_watcher watcher;
    ASSERT_TRUE(root.map_host({0x1000, 0x1000, bytes.data(), true, true}));
    for (const bool watched : {false, true}) {
        if (watched) root.watch_host_memory(&watcher);
        tlm::tlm_generic_payload query;
        query.set_read();
        query.set_address(0x1800);
        memory_attribute attribute;
        query.set_extension(&attribute);
        tlm::tlm_dmi dmi;
        EXPECT_FALSE(engine.out->get_direct_mem_ptr(query, dmi)) << watched;
        EXPECT_TRUE(attribute.is_memory) << watched;
        query.clear_extension(&attribute);
    }
}

TEST_F(HostMemoryTest, UnmapRemovesWholeRangesOnly) {
    for (std::uint64_t at = 0x1000; at < 0x5000; at += 0x1000) {
        ASSERT_TRUE(root.map_host({at, 0x1000, bytes.data(), true, true}));
    }
    const auto invalidations = engine.invalidations;
    EXPECT_EQ(unmap(0x1800, 0x800), -1);
    EXPECT_EQ(unmap(0x1000, 0x1800), -1);
    EXPECT_EQ(unmap(0x8000, 0x1000), 0);
    EXPECT_EQ(unmap(0x2000, 0x2000), 2);
    EXPECT_EQ(engine.invalidations, invalidations + 2);
    EXPECT_EQ(unmap(0, ~std::uint64_t{0}), 2);
    EXPECT_EQ(engine.read(0x1000), 0u);
    EXPECT_EQ(engine.response, tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

/// A sorted vector takes 10 s of processor time for these, a tree 0.1 s.
TEST_F(HostMemoryTest, TimePerMappingDoesNotGrowWithTheNumberOfRanges) {
    constexpr std::uint64_t count = 200'000, size = 0x1000;
    const auto begin = std::clock();
    for (std::uint64_t n = count; n > 0; --n)
        ASSERT_TRUE(root.map_host({n * size, size, nullptr, true, true}));
    for (std::uint64_t n = 1; n <= count; ++n) ASSERT_EQ(unmap(n * size, size), 1);
    EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 1.5);
}

TEST_F(HostMemoryTest, AccessMayCrossAdjacentRanges) {
    ASSERT_TRUE(root.map_host({0x1000, 0x1000, bytes.data() + 0x2000, true, true}));
    ASSERT_TRUE(root.map_host({0x2000, 0x1000, bytes.data(), true, false}));
    bytes[0x2ffe] = 1, bytes[0x2fff] = 2, bytes[0] = 3, bytes[1] = 4;
    EXPECT_EQ(engine.read(0x1ffe), 0x0403'0201u);
    EXPECT_EQ(engine.write<std::uint32_t>(0x1ffe, 0), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(bytes[0x2ffe], 1);  // unchanged
    EXPECT_EQ(engine.read<std::uint16_t>(0x2fff), 0u);
    EXPECT_EQ(engine.response, tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

TEST_F(HostMemoryTest, MessageReadIsDeferredUntilItsReply) {
    ASSERT_TRUE(root.map_host({0x1000, 0x1000, nullptr, true, true}));
    root.carry_host_messages(&client);
    EXPECT_EQ(read_word(0x1010), tlm::TLM_INCOMPLETE_RESPONSE);
    ASSERT_EQ(client.questions.size(), 1u);
    EXPECT_EQ(client.questions[0].iova, 0x1010u);
    EXPECT_EQ(client.questions[0].size, 4u);
    // Not answered yet: the client is asked only once.
    EXPECT_EQ(read_word(0x1010), tlm::TLM_INCOMPLETE_RESPONSE);
    EXPECT_EQ(client.questions.size(), 1u);

    client.answer_next({1, 2, 3, 4});
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    EXPECT_EQ(read_word(0x1010), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(word, 0x0403'0201u);
    EXPECT_EQ(read_word(0x1010), tlm::TLM_INCOMPLETE_RESPONSE);  // replies are not cached
}

TEST_F(HostMemoryTest, MessageReadWithoutDeferralIsAnError) {
    ASSERT_TRUE(root.map_host({0x1000, 0x1000, nullptr, true, true}));
    EXPECT_EQ(engine.write<std::uint32_t>(0x1000, 1), tlm::TLM_GENERIC_ERROR_RESPONSE);
    root.carry_host_messages(&client);
    engine.read(0x1000);
    EXPECT_EQ(engine.response, tlm::TLM_GENERIC_ERROR_RESPONSE);
    EXPECT_TRUE(client.questions.empty());
    EXPECT_EQ(engine.write<std::uint32_t>(0x1000, 0x55), tlm::TLM_OK_RESPONSE);  // posted
    ASSERT_EQ(client.written.size(), 1u);
    EXPECT_EQ(client.written[0].second, (std::vector<std::uint8_t>{0x55, 0, 0, 0}));
}

TEST_F(HostMemoryTest, RefusedMessageFailsItsAccess) {
    ASSERT_TRUE(root.map_host({0x1000, 0x1000, nullptr, true, true}));
    root.carry_host_messages(&client);
    ASSERT_EQ(read_word(0x1000), tlm::TLM_INCOMPLETE_RESPONSE);
    client.answer_next({});
    EXPECT_EQ(read_word(0x1000), tlm::TLM_GENERIC_ERROR_RESPONSE);
    EXPECT_EQ(read_word(0x1000), tlm::TLM_INCOMPLETE_RESPONSE);  // asks again
    EXPECT_EQ(client.questions.size(), 1u);
}

TEST_F(HostMemoryTest, PendingReadsFailWhenTheirClientLeaves) {
    ASSERT_TRUE(root.map_host({0x1000, 0x1000, nullptr, true, true}));
    root.carry_host_messages(&client);
    ASSERT_EQ(read_word(0x1000), tlm::TLM_INCOMPLETE_RESPONSE);
    EXPECT_EQ(unmap(0x1000, 0x1000), 1);
    root.carry_host_messages(nullptr);
    EXPECT_EQ(read_word(0x1000), tlm::TLM_ADDRESS_ERROR_RESPONSE);
    client.answer_next({1, 2, 3, 4});  // too late: ignored
}

TEST_F(HostMemoryTest, AccessIsRetriedWhenTheMessageQueueHasRoom) {
    ASSERT_TRUE(root.map_host({0x1000, 0x1000, nullptr, true, true}));
    root.carry_host_messages(&client);
    client.full = true;
    EXPECT_EQ(access(tlm::TLM_WRITE_COMMAND, 0x1000, &word, 4), tlm::TLM_INCOMPLETE_RESPONSE);
    EXPECT_TRUE(pending.is_deferred());
    EXPECT_EQ(read_word(0x1000), tlm::TLM_INCOMPLETE_RESPONSE);
    client.full = false;
    root.host_messages_ready();
    EXPECT_TRUE(wakes());
    EXPECT_EQ(access(tlm::TLM_WRITE_COMMAND, 0x1000, &word, 4), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(client.written.size(), 1u);
}

TEST_F(HostMemoryTest, AbandonedMessagesFreeTheirSlots) {
    ASSERT_TRUE(root.map_host({0x1000, 0x1000, nullptr, true, true}));
    root.carry_host_messages(&client);
    for (unsigned i = 0; i <= host_memory::max_questions; ++i) {
        ASSERT_EQ(read_word(0x1000), tlm::TLM_INCOMPLETE_RESPONSE);
        pending.abandon();
    }
    ASSERT_EQ(read_word(0x1000), tlm::TLM_INCOMPLETE_RESPONSE);
    ASSERT_EQ(client.questions.size(), host_memory::max_questions + 2);
    // Replies to abandoned requests are dropped, and do not wake the initiator.
    while (client.questions.size() > 1) client.answer_next({1, 1, 1, 1});
    EXPECT_FALSE(wakes());
    EXPECT_EQ(read_word(0x1000), tlm::TLM_INCOMPLETE_RESPONSE);
    client.answer_next({2, 2, 2, 2});
    EXPECT_TRUE(wakes());
    EXPECT_EQ(read_word(0x1000), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(word, 0x0202'0202u);
}

TEST_F(HostMemoryTest, AnotherAccessAbandonsThePendingOne) {
    ASSERT_TRUE(root.map_host({0x1000, 0x1000, nullptr, true, true}));
    root.carry_host_messages(&client);
    ASSERT_EQ(read_word(0x1000), tlm::TLM_INCOMPLETE_RESPONSE);
    ASSERT_EQ(read_word(0x1004), tlm::TLM_INCOMPLETE_RESPONSE);
    client.answer_next({1, 1, 1, 1});
    EXPECT_EQ(read_word(0x1004), tlm::TLM_INCOMPLETE_RESPONSE);
    client.answer_next({2, 2, 2, 2});
    EXPECT_EQ(read_word(0x1004), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(word, 0x0202'0202u);
    // The same address with another length, and another command.
    ASSERT_EQ(read_word(0x1004), tlm::TLM_INCOMPLETE_RESPONSE);
    std::uint16_t half = 0;
    ASSERT_EQ(access(tlm::TLM_READ_COMMAND, 0x1004, &half, 2), tlm::TLM_INCOMPLETE_RESPONSE);
    EXPECT_EQ(client.questions.back().size, 2u);
    EXPECT_EQ(access(tlm::TLM_WRITE_COMMAND, 0x1004, &half, 2), tlm::TLM_OK_RESPONSE);
    ASSERT_EQ(read_word(0x1004), tlm::TLM_INCOMPLETE_RESPONSE);
    EXPECT_EQ(client.questions.size(), 3u);
}

TEST_F(HostMemoryTest, AbandonedRequestWakesAnAccessThatWaitsForRoom) {
    ASSERT_TRUE(root.map_host({0x1000, 0x1000, nullptr, true, true}));
    root.carry_host_messages(&client);
    memory_port port(engine.out);
    std::deque<pending_access> many;
    sc_core::sc_event others;
    const auto read = [&](pending_access& with) {
        return port.access(tlm::TLM_READ_COMMAND, 0x1000, &word, sizeof word, with, delay);
    };
    for (unsigned i = 0; i < host_memory::max_questions; ++i)
        ASSERT_EQ(read(many.emplace_back(others)), memory_port::outcome::deferred);
    ASSERT_EQ(read(pending), memory_port::outcome::deferred);
    EXPECT_EQ(client.questions.size(), host_memory::max_questions);
    many.pop_front();
    EXPECT_TRUE(wakes());
    EXPECT_EQ(read(pending), memory_port::outcome::deferred);
    EXPECT_EQ(client.questions.size(), host_memory::max_questions + 1);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
#include "models/cards/nitro_management/nitro_management.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "models/cards/nitro_management/nitro_management_regs.h"
#include "platform/framework/registers/register_socket.h"
#include "platform/framework/tlm/memory.h"
#include "tests/support/memory_path.h"
#include "tests/support/tlm_driver.h"

namespace {

using namespace trn;
using nitro_management_regs::offset;
using nitro_management_regs::reg;
using testing::ElementsAre;

/// A card with its own commands: 1 echoes its words, 2 sums the bytes of its control buffer (u32
/// length at byte 4, u64 address at byte 8) page by page; all others are unsupported.
class test_card : public sc_core::sc_module, public nitro::admin_target {
public:
    explicit test_card(sc_core::sc_module_name name, const nitro_management::config& cfg = {})
        : sc_module(name), management("management", cfg, dma, *this) {}

    tlm_utils::simple_initiator_socket<test_card, 64> dma{"dma"};
    nitro_management management;
    register_socket registers{"registers", management.registers};
    std::vector<unsigned> raised;
    unsigned resets = 0;

    nitro::step begin(const nitro::admin_entry& command) override {
        words_ = command;
        switch (command.words()[0] >> 16 & 0xff) {
        case 1:
            return nitro::answer{.result = nitro::status::ok, .entry = command};
        case 2:
            left_ = command.words()[1];
            std::memcpy(&at_, &command.words()[2], sizeof at_);
            sum_ = 0;
            return next();
        default:
            return nitro::answer{.result = nitro::status::unsupported_opcode};
        }
    }
    nitro::step resume(std::span<const std::uint8_t> bytes) override {
        if (bytes.empty()) return nitro::answer{.result = nitro::status::illegal_parameter};
        sum_ = std::accumulate(bytes.begin(), bytes.end(), sum_);
        left_ -= static_cast<std::uint32_t>(bytes.size());
        at_ += bytes.size();
        return next();
    }
    void reset_by_driver() override { ++resets; }
    void raise(unsigned vector) override { raised.push_back(vector); }

private:
    nitro::step next() {
        if (left_ != 0)
            return nitro::memory_request{.address = at_, .bytes = std::min(left_, 4096u)};
        nitro::answer done;
        done.entry.words()[2] = sum_;
        return done;
    }
    nitro::admin_entry words_;
    std::uint64_t at_ = 0;
    std::uint32_t left_ = 0, sum_ = 0;
};

/// A minimal driver, written from the contract alone: offsets are literal numbers.
struct NitroManagementTest : testing::Test {
    static constexpr std::uint64_t response_at = 0x100, aq_at = 0x1000, acq_at = 0x2000,
                                   aenq_at = 0x3000, buffer_at = 0x10000;
    static constexpr unsigned depth = 8;

    explicit NitroManagementTest(const nitro_management::config& cfg = {})
        : card("card", cfg), host("host", {.size = 1 << 20}), cpu("cpu") {
        card.dma.bind(path.in);
        path.out.bind(host.in);
        cpu.out.bind(card.registers);
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
    }
    void set(std::uint64_t at, std::uint32_t value) {
        ASSERT_EQ(cpu.write(at, value), tlm::TLM_OK_RESPONSE);
    }
    template <class T>
    T in_memory(std::uint64_t at) {
        T value;
        std::memcpy(&value, host.bytes().data() + at, sizeof value);
        return value;
    }
    static void run(double microseconds = 100) { sc_core::sc_start(microseconds, sc_core::SC_US); }
    /// A readless read: the value, or all ones when the response names another register.
    std::uint32_t read(std::uint16_t at) {
        const std::uint16_t id = ++last_id_;
        set(0x5c, id | std::uint32_t{at} << 16);
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
        if (test::memory_is_slow()) run(0.1);
        EXPECT_EQ(in_memory<std::uint16_t>(response_at), id);
        if (in_memory<std::uint16_t>(response_at + 2) != at) return ~0u;
        return in_memory<std::uint32_t>(response_at + 4);
    }
    void set_response_address() {
        set(0x64, 0);
        set(0x60, response_at);
    }
    void set_up_queues() {
        set(0x10, aq_at);
        set(0x14, 0);
        set(0x18, depth | 64u << 16);
        set(0x20, acq_at);
        set(0x24, 0);
        set(0x28, depth | 64u << 16 | 3u << 24);
        set(0x4c, 0);
        set(0x38, aenq_at);
        set(0x3c, 0);
        set(0x34, 4 | 64u << 16 | 5u << 24);
        set(0x40, 0);
    }
    /// Posts a command with the given words, from the second word on.
    void post(std::uint8_t opcode, std::vector<std::uint32_t> words, std::uint16_t id) {
        std::uint8_t entry[64] = {};
        std::memcpy(entry, &id, 2);
        entry[2] = opcode;
        entry[3] = (posted_ / depth) % 2 == 0;
        if (!words.empty()) std::memcpy(entry + 4, words.data(), words.size() * 4);
        std::memcpy(host.bytes().data() + aq_at + posted_ % depth * 64, entry, sizeof entry);
        set(0x2c, ++posted_ & 0xffff);
    }
    struct completion {
        std::uint16_t id;
        std::uint8_t status, flags;
        std::uint16_t extended, head;
        std::uint32_t words[14];
    };
    static_assert(sizeof(completion) == 64);
    completion completed(unsigned n) { return in_memory<completion>(acq_at + n % depth * 64); }

    test_card card;
    memory host;
    test::memory_path path{"path"};
    test::tlm_driver cpu;

private:
    std::uint16_t last_id_ = 0x40;
    std::uint32_t posted_ = 0;
};

TEST_F(NitroManagementTest, RegistersAreReadThroughMemory) {
    set_response_address();
    EXPECT_EQ(read(0x00), 1u);
    EXPECT_GE(read(0x04) & 0xffffff, 1u);
    EXPECT_EQ(read(0x08) >> 1 & 0x1f, 31u);
    EXPECT_EQ(read(0x08) >> 8 & 0xff, 64u);
    EXPECT_EQ(read(0x58), 1u);
    EXPECT_EQ(read(0x0c), ~0u);   // unassigned offset
    EXPECT_EQ(read(0x900), ~0u);  // out of range
    EXPECT_EQ(card.management.counters().readless_reads, 7u);
}

TEST_F(NitroManagementTest, CommandIsExecutedThoughItsQueueIsRemovedDuringTheFetch) {
    set_up_queues();
    path.hold(aq_at, 64);
    post(1, {7, 8}, 0x123);
    run(1);
    EXPECT_EQ(path.waiting(), 1u);
    set(0x18, 0);  // no queue of commands
    set(0x10, 0);
    path.release();
    run();
    EXPECT_EQ(completed(0).id, 0x123);
    EXPECT_EQ(completed(0).words[0], 8u);
}

TEST_F(NitroManagementTest, CompletionWithoutAQueueIsNotWritten) {
    set_up_queues();
    path.hold(aq_at, 64);
    post(1, {7, 8}, 0x123);
    run(1);
    set(0x28, 0);  // no queue of completions
    path.release();
    run();
    EXPECT_EQ(card.management.counters().commands, 1u);
    EXPECT_EQ(in_memory<std::uint64_t>(0), 0u);
    EXPECT_EQ(completed(0).id, 0);
    EXPECT_TRUE(card.raised.empty());
}

TEST_F(NitroManagementTest, RequestWithoutResponseAddressWritesNothing) {
    set(0x64, 0);  // only the high half: the driver writes it first
    set(0x5c, 0x0058'0001);
    run();
    EXPECT_EQ(in_memory<std::uint64_t>(0), 0u);
}

TEST_F(NitroManagementTest, ResetLastsAsLongAsItsBitAndForgetsTheResponseAddress) {
    set_response_address();
    set_up_queues();
    set(0x54, 1 | 3u << 28);
    EXPECT_EQ(card.resets, 1u);
    set(0x5c, 0x0058'7777);
    run();
    EXPECT_NE(in_memory<std::uint16_t>(response_at), 0x7777);
    set_response_address();
    EXPECT_EQ(read(0x58) & 0x9, 0x8u);
    set(0x54, 0);
    EXPECT_EQ(read(0x58) & 0x9, 0x1u);
    EXPECT_EQ(card.resets, 1u);
    EXPECT_EQ(read(0x18), 0u);  // the queue was destroyed
    post(1, {7}, 1);
    run();
    EXPECT_EQ(completed(0).flags, 0);
}

TEST_F(NitroManagementTest, CommandsAreCompletedInTheRingWithPhaseAndInterrupt) {
    set_up_queues();
    for (unsigned n = 0; n < 20; ++n) {
        post(n % 5 == 4 ? 99 : 1, {0, 1000 + n}, static_cast<std::uint16_t>(0x800 + n));
        run();
        const completion done = completed(n);
        EXPECT_EQ(done.id, 0x800 + n);
        EXPECT_EQ(done.flags, n / depth % 2 == 0 ? 1 : 0);
        EXPECT_EQ(done.status, n % 5 == 4 ? 3 : 0);
        EXPECT_EQ(done.head, n + 1);
        EXPECT_EQ(done.words[0], n % 5 == 4 ? 0 : 1000 + n);
        EXPECT_EQ(card.raised.size(), n + 1);
        EXPECT_EQ(card.raised.back(), 3u);
    }
    EXPECT_EQ(card.management.counters().failed_commands, 4u);
}

TEST_F(NitroManagementTest, SeveralCommandsOfOneDoorbellAreCompletedInOrder) {
    set_up_queues();
    for (unsigned n = 0; n < 6; ++n) post(1, {0, n}, static_cast<std::uint16_t>(n));
    run();
    for (unsigned n = 0; n < 6; ++n) EXPECT_EQ(completed(n).words[0], n);
    EXPECT_EQ(card.raised.size(), 6u);
}

TEST_F(NitroManagementTest, MaskedVectorIsNotRaised) {
    set_up_queues();
    set(0x4c, 1);
    post(1, {}, 1);
    run();
    EXPECT_EQ(completed(0).flags, 1);
    EXPECT_TRUE(card.raised.empty());
}

TEST_F(NitroManagementTest, CompletionIsNotThereBeforeTheTimeOfACommand) {
    set_up_queues();
    post(1, {}, 1);
    run(9.9);
    EXPECT_EQ(completed(0).flags, 0);
    run(0.2);
    EXPECT_EQ(completed(0).flags, 1);
}

TEST_F(NitroManagementTest, ControlBufferIsReadBeforeTheAnswer) {
    set_up_queues();
    std::uint32_t sum = 0;
    for (unsigned i = 0; i < 10'000; ++i) {
        host.bytes().data()[buffer_at + i] = static_cast<std::uint8_t>(i * 7);
        sum += static_cast<std::uint8_t>(i * 7);
    }
    post(2, {10'000, buffer_at, 0}, 5);
    run();
    EXPECT_EQ(completed(0).status, 0);
    EXPECT_EQ(completed(0).words[0], sum);
}

TEST_F(NitroManagementTest, ControlBufferOutsideMemoryFailsTheCommandAlone) {
    set_up_queues();
    post(2, {64, 0, 0x7000'0000}, 5);
    post(1, {0, 42}, 6);
    run();
    EXPECT_EQ(completed(0).status, 5);
    EXPECT_EQ(completed(1).words[0], 42u);
}

TEST_F(NitroManagementTest, ResetAbandonsACommandInWork) {
    set_up_queues();
    post(1, {}, 1);
    run(5);
    set(0x54, 1);
    set(0x54, 0);
    run();
    EXPECT_EQ(completed(0).flags, 0);
    EXPECT_TRUE(card.raised.empty());
}

TEST_F(NitroManagementTest, EventsWaitForTheConsumersCount) {
    set_up_queues();
    for (unsigned n = 0; n < 6; ++n)
        card.management.report(nitro_management::event_group::keep_alive,
                               static_cast<std::uint16_t>(n));
    run();
    EXPECT_EQ(card.management.counters().lost_events, 2u);  // the queue has four entries
    for (unsigned n = 0; n < 4; ++n) {
        EXPECT_EQ(in_memory<std::uint16_t>(aenq_at + n * 64), 4);
        EXPECT_EQ(in_memory<std::uint16_t>(aenq_at + n * 64 + 2), n);
        EXPECT_EQ(in_memory<std::uint8_t>(aenq_at + n * 64 + 4), 1);
    }
    EXPECT_THAT(card.raised, ElementsAre(5, 5, 5, 5));
    set(0x40, 4);
    card.management.report(nitro_management::event_group::warning, 9);
    run();
    EXPECT_EQ(in_memory<std::uint16_t>(aenq_at), 2);
    EXPECT_EQ(in_memory<std::uint8_t>(aenq_at + 4), 0);  // second pass
}

TEST_F(NitroManagementTest, EventThatMemoryRefusesIsTheLast) {
    set_up_queues();
    set(0x3c, 0x7000);
    for (int n = 0; n < 3; ++n) {
        card.management.report(nitro_management::event_group::keep_alive, 0);
        run();
    }
    EXPECT_EQ(card.management.counters().events, 1u);
    EXPECT_EQ(card.management.counters().lost_events, 2u);
    set_up_queues();
    card.management.report(nitro_management::event_group::keep_alive, 0);
    run();
    EXPECT_EQ(in_memory<std::uint16_t>(aenq_at), 4);
}

TEST_F(NitroManagementTest, ResponseAddressMayBeWrittenInEitherOrder) {
    set(0x60, response_at);
    set(0x64, 0);
    EXPECT_EQ(read(0x58), 1u);
}

/// ENA: the driver's event counter starts at the depth of the event queue.
struct EventLimitTest : NitroManagementTest {
    EventLimitTest()
        : NitroManagementTest(
              {.version = 0x000a, .dma_address_width = 48, .event_count_is_limit = true}) {}
};

TEST_F(EventLimitTest, EventsWaitForTheLimit) {
    set_up_queues();
    const std::uint32_t details[] = {11, 12};
    const auto report = [&] {
        card.management.report(nitro_management::event_group::link_change, 0, details);
    };
    report();
    EXPECT_EQ(card.management.counters().lost_events, 1u);
    set(0x40, 4);
    for (unsigned n = 0; n < 5; ++n) report();
    EXPECT_EQ(card.management.counters().lost_events, 2u);
    run();
    EXPECT_EQ(in_memory<std::uint16_t>(aenq_at), 0);
    EXPECT_EQ(in_memory<std::uint32_t>(aenq_at + 16), 11u);
    EXPECT_EQ(in_memory<std::uint32_t>(aenq_at + 20), 12u);
    set(0x40, 6);
    for (unsigned n = 0; n < 3; ++n) report();
    EXPECT_EQ(card.management.counters().lost_events, 3u);
}

TEST_F(EventLimitTest, CardHasItsOwnVersionAndAddressWidthAlsoAfterAReset) {
    for (int round = 0; round < 2; ++round) {
        set_response_address();
        EXPECT_EQ(read(0x00), 0x000au);
        EXPECT_EQ(read(0x08) >> 8 & 0xff, 48u);
        set(0x54, 1);
        set(0x54, 0);
    }
}

TEST_F(NitroManagementTest, FatalErrorIsInTheStatusUntilAReset) {
    set_response_address();
    set_up_queues();
    card.management.fail(1);
    EXPECT_EQ(read(0x58) & 0x20, 0x20u);
    set(0x54, 1);
    set(0x54, 0);
    set_response_address();
    EXPECT_EQ(read(0x58) & 0x21, 0x01u);
}

TEST_F(NitroManagementTest, LostCommandsAndCompletionsAreNotAnswered) {
    set_up_queues();
    card.management.lose_commands(1);
    post(1, {0, 1}, 1);
    run();
    EXPECT_EQ(card.management.counters().commands, 0u);
    card.management.lose_completions(1);
    post(1, {0, 2}, 2);
    run();
    EXPECT_EQ(card.management.counters().commands, 1u);
    EXPECT_EQ(completed(0).flags, 0);
    post(1, {0, 3}, 3);
    run();
    EXPECT_EQ(completed(0).id, 3);
}

TEST_F(NitroManagementTest, AbsurdRingsAndCountsDoNotStopTheCard) {
    set_up_queues();
    set(0x18, 0xffff | 64u << 16);
    set(0x2c, 0xffff);
    run();
    EXPECT_EQ(card.management.counters().commands, 0u);
    set(0x18, depth | 64u << 16);
    set(0x2c, 0x8000);
    run();
    EXPECT_EQ(card.management.counters().commands, depth);
    set(0x10, 0xffff'ffc0);
    set(0x14, 0xffff'ffff);
    set(0x2c, 0x8001);
    run();
    EXPECT_EQ(card.management.counters().commands, depth);
}

}  // namespace

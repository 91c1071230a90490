// SPDX-License-Identifier: Apache-2.0
// What the host does while the card waits for memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "models/network/ethernet_fabric/ethernet_fabric.h"
#include "tests/unit/cards/efa/card/verbs_driver.h"

namespace {

using namespace trn;
using test::verbs_driver;
using command = verbs_driver::command;

constexpr std::uint32_t deferral_qkey = 7;
constexpr std::uint32_t reset = 0, error = 6;  // states of a queue pair

std::uint64_t dropped_packets(const verbs_driver& of) {
    struct counted final : statistics {
        void count(std::string_view counter, std::uint64_t number) override {
            if (counter == "dropped_packets") value = number;
        }
        std::uint64_t value = 0;
    } all;
    of.card.publish(all);
    return all.value;
}

/// Card b sends to card a, whose memory does not respond to chosen accesses.
struct EfaDeferralTest : testing::Test {
    EfaDeferralTest() : a("a", {}), b("b", {}) {
        net.port[0].join(a.card.net);
        net.port[1].join(b.card.net);
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
        a.start();
        b.start();
        pd_a = a.alloc_pd(), uar_a = a.alloc_uar();
        pd_b = b.alloc_pd(), uar_b = b.alloc_uar();
        cq_a = a.create_cq(uar_a, 64), cq_b = b.create_cq(uar_b, 64);
        from = b.create_qp(pd_b, uar_b, verbs_driver::srd, cq_b.number, cq_b.number);
        b.to_rts(from, deferral_qkey);
        ah = b.create_ah(pd_b, a.gid());
        a.create_ah(pd_a, b.gid());
        buffer = a.allocate(buffer_bytes);
        key = a.reg_mr(pd_a, buffer, buffer_bytes, buffer);
    }
    verbs_driver::queue receiving() {
        auto made = a.create_qp(pd_a, uar_a, verbs_driver::srd, cq_a.number, cq_a.number);
        a.to_rts(made, deferral_qkey);
        return made;
    }
    void post_receive(verbs_driver::queue& on, std::uint16_t id) {
        a.post_receive(on, id, {{key, buffer, 100}});
    }
    void send(const verbs_driver::queue& to, std::uint16_t id) {
        b.post(
            from,
            {.id = id, .to_qp = to.number, .ah = ah, .qkey = deferral_qkey, .inlined = {1, 2, 3}});
    }
    void destroy(const verbs_driver::queue& of) {
        EXPECT_EQ(a.execute(command(4).put(4, of.handle)).status, 0);
    }

    static constexpr std::uint64_t buffer_bytes = 4096;
    verbs_driver a, b;
    ethernet_fabric net{"net", {}};
    std::uint16_t pd_a = 0, uar_a = 0, pd_b = 0, uar_b = 0, ah = 0;
    verbs_driver::completion_ring cq_a, cq_b;
    verbs_driver::queue from;
    std::uint64_t buffer = 0;
    std::uint32_t key = 0;
};

TEST_F(EfaDeferralTest, DestroyedQueuePairEndsItsFlush) {
    auto into = receiving(), doomed = receiving();
    post_receive(into, 1);
    post_receive(doomed, 2);
    a.path.hold(doomed.receives, 256);
    EXPECT_EQ(a.modify(doomed.handle, error).status, 0);
    ASSERT_EQ(a.path.waiting(), 1u);
    send(into, 3);
    destroy(doomed);
    EXPECT_EQ(a.path.waiting(), 0u);
    EXPECT_EQ(b.wait(cq_b).status, 0);
    EXPECT_EQ(a.wait(cq_a).request_id, 1);
    a.path.release();
    a.advance(100);
    EXPECT_FALSE(a.poll(cq_a));
}

TEST_F(EfaDeferralTest, DatagramsThatMemoryCannotTakeAreLostAndNotKept) {
    const auto datagrams = [](verbs_driver& on, std::uint16_t pd, std::uint16_t uar,
                              const verbs_driver::completion_ring& cq) {
        auto made = on.create_qp(pd, uar, verbs_driver::ud, cq.number, cq.number);
        on.to_rts(made, deferral_qkey);
        return made;
    };
    auto into = datagrams(a, pd_a, uar_a, cq_a), out = datagrams(b, pd_b, uar_b, cq_b);
    post_receive(into, 1);
    a.path.hold(buffer, buffer_bytes);
    constexpr unsigned sent = 1500;
    for (unsigned i = 0; i < sent; ++i) {
        b.post(
            out,
            {.id = 2, .to_qp = into.number, .ah = ah, .qkey = deferral_qkey, .inlined = {1, 2, 3}});
        ASSERT_EQ(b.wait(cq_b).status, 0);
    }
    b.advance(100);
    EXPECT_EQ(dropped_packets(a), sent - 1024u);
    a.path.release();
    EXPECT_EQ(a.wait(cq_a).request_id, 1);
    a.advance(100);
    EXPECT_EQ(dropped_packets(a), sent - 1u) << "without a receive";
}

TEST_F(EfaDeferralTest, FlushOfOneQueuePairContinuesAfterThatOfAnotherHasBegun) {
    auto first = receiving(), second = receiving();
    post_receive(second, 2);
    post_receive(first, 1);
    a.path.hold(second.receives, 256);
    EXPECT_EQ(a.modify(second.handle, error).status, 0);
    ASSERT_EQ(a.path.waiting(), 1u);
    EXPECT_EQ(a.modify(first.handle, error).status, 0);
    a.path.release();
    for (const int id : {2, 1}) {
        const auto done = a.wait(cq_a);
        EXPECT_EQ(done.request_id, id);
        EXPECT_EQ(done.status, 1);
        EXPECT_EQ(done.qp, id == 1 ? first.number : second.number);
    }
}

TEST_F(EfaDeferralTest, ResetQueuePairTakesNothingFromASendThatIsBeingWritten) {
    auto into = receiving();
    post_receive(into, 1);
    a.path.hold(buffer, buffer_bytes);
    send(into, 2);
    b.advance(50);
    ASSERT_EQ(a.path.waiting(), 1u);
    EXPECT_EQ(a.modify(into.handle, reset).status, 0);
    EXPECT_EQ(a.path.waiting(), 0u);
    a.path.release();
    a.advance(100);
    EXPECT_FALSE(a.poll(cq_a));
    b.wait(cq_b);

    // The queue pair starts again with an empty ring.
    into.receives_posted = 0;
    a.to_rts(into, deferral_qkey);
    post_receive(into, 3);
    send(into, 4);
    EXPECT_EQ(a.wait(cq_a).request_id, 3);
    EXPECT_EQ(b.wait(cq_b).status, 0);
}

TEST_F(EfaDeferralTest, DeregisteredBufferDoesNotHarmTheNextSend) {
    auto into = receiving();
    const auto other = a.allocate(buffer_bytes);
    const auto other_key = a.reg_mr(pd_a, other, buffer_bytes, other);
    a.post_receive(into, 1, {{other_key, other, 100}});
    post_receive(into, 2);
    a.path.hold(other, buffer_bytes);
    send(into, 3);
    send(into, 4);
    b.advance(50);
    ASSERT_EQ(a.path.waiting(), 1u);
    EXPECT_EQ(a.execute(command(8).put(4, other_key)).status, 0);
    a.path.release();
    const auto failed = a.wait(cq_a), received = a.wait(cq_a);
    EXPECT_EQ(failed.request_id, 1);
    EXPECT_NE(failed.status, 0);
    EXPECT_EQ(received.request_id, 2);
    EXPECT_EQ(received.status, 0);
}

TEST_F(EfaDeferralTest, PageListOfAnotherQueuePairIsKept) {
    auto registers = b.create_qp(pd_b, uar_b, verbs_driver::srd, cq_b.number, cq_b.number);
    b.to_rts(registers, deferral_qkey);
    const auto region = b.alloc_mr(pd_b, 8);
    const auto pages = b.allocate(2 * 4096), list = b.allocate(4096);
    for (std::uint64_t i = 0; i < 2; ++i) b.store(list + i * 8, pages + i * 4096);
    b.path.hold(list, 4096);
    b.post_fast_register(registers, 1, region, 0x1000, 2 * 4096, list);
    b.advance(50);
    ASSERT_EQ(b.path.waiting(), 1u);
    EXPECT_EQ(b.execute(command(4).put(4, from.handle)).status, 0);
    EXPECT_EQ(b.path.waiting(), 1u);
    b.path.release();
    EXPECT_EQ(b.wait(cq_b).status, 0);
}

TEST_F(EfaDeferralTest, DestroyedCompletionQueueIsNotWrittenAnyMore) {
    auto into = receiving();
    const auto other = a.create_cq(uar_a, 64);
    auto doomed = a.create_qp(pd_a, uar_a, verbs_driver::srd, other.number, other.number);
    a.to_rts(doomed, deferral_qkey);
    post_receive(doomed, 1);
    post_receive(into, 2);
    a.path.hold(other.base, 4096);
    send(doomed, 3);
    EXPECT_EQ(b.wait(cq_b).status, 0);
    a.advance(50);
    ASSERT_EQ(a.path.waiting(), 1u);
    destroy(doomed);
    EXPECT_EQ(a.execute(command(10).put(4, other.number)).status, 0);
    EXPECT_EQ(a.path.waiting(), 0u);
    a.path.release();
    a.advance(100);
    const auto* const entries = a.bytes(other.base);
    EXPECT_TRUE(std::all_of(entries, entries + 64, [](auto byte) { return byte == 0; }));
    send(into, 4);
    EXPECT_EQ(a.wait(cq_a).request_id, 2);
}

}  // namespace

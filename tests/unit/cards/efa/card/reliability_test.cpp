// SPDX-License-Identifier: Apache-2.0
// SRD as a reliable transport (EFA contract 16): what arrives takes effect once, congestion and
// loss only slow requests down, and what waits for a receiver waits alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/unit/cards/efa/card/efa_fixture.h"

namespace {

using namespace trn;
using test::verbs_driver;
using endpoint = test::efa_endpoint;
using admin = verbs_driver::command;

constexpr auto base = test::efa_va;
constexpr std::uint8_t read = 1, write = 2;

/// Servers whose cards are joined by one fabric.
struct EfaFabric : testing::Test {
    void build(unsigned count, ethernet_fabric::config fabric = {}, efa_card::config card = {}) {
        card.keep_alive = sc_core::SC_ZERO_TIME;
        fabric.ports = count;
        net = std::make_unique<ethernet_fabric>("net", fabric);
        for (unsigned i = 0; i < count; ++i) {
            auto name = "s";
            server.push_back(std::make_unique<verbs_driver>(name + std::to_string(i), card));
            net->port[i].join(server.back()->card.net);
        }
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
        for (auto& each : server) each->start();
    }
    verbs_driver& at(unsigned number) { return *server[number]; }
    endpoint open(unsigned on, unsigned peer, const endpoint::options& how) {
        return {at(on), at(peer), how};
    }
    endpoint open(unsigned on, unsigned peer) { return open(on, peer, {}); }
    void lose(std::uint64_t ppm) { net->inject("loss", {{"ppm", std::to_string(ppm)}}); }
    void lose_next() { net->inject("lose", {{"count", "1"}}); }
    void set_port(unsigned number, const char* fault) {
        net->inject(fault, {{"port", std::to_string(number)}});
    }
    std::uint64_t network_counter(unsigned of, unsigned index) {
        return at(of).execute(admin(13).put<std::uint8_t>(16, 4)).u64(8 + index * 8);
    }
    static double now_us() { return sc_core::sc_time_stamp().to_seconds() * 1e6; }
    static void run(double microseconds) { verbs_driver::run(microseconds); }
    /// The status of a request that completes within some time, unless it waits for ever.
    std::uint8_t status_of(unsigned on, endpoint& from, const verbs_driver::work& request,
                           double microseconds = 20'000) {
        at(on).post(from.qp, request);
        return at(on).wait(from.cq, microseconds).status;
    }

    std::unique_ptr<ethernet_fabric> net;
    std::vector<std::unique_ptr<verbs_driver>> server;
};

// --- what arrives takes effect once ---

/// Writes increasing values to one word. The word never decreases, and is the receiver's own after
/// the last write.
void write_in_sequence(EfaFabric& on, unsigned count) {
    auto from = on.open(0, 1), into = on.open(1, 0);
    auto& word = *reinterpret_cast<std::uint64_t*>(on.at(1).bytes(into.buffer));
    std::uint64_t latest = 0;
    for (std::uint64_t value = 1; value <= count; ++value) {
        on.at(0).store(from.buffer, value);
        on.at(0).post(from.qp, from.rdma(write, into, 1, sizeof value));
        for (bool done = false; !done; EfaFabric::run(1)) {
            ASSERT_GE(word, latest);
            latest = word;
            const auto completion = on.at(0).poll(from.cq);
            done = completion.has_value();
            ASSERT_EQ(done ? completion->status : 0, 0);
        }
        ASSERT_EQ(word, value);
        latest = value;
    }
    word = 77;
    EfaFabric::run(5000);
    EXPECT_EQ(word, 77u);
}

TEST_F(EfaFabric, SequentialWritesNeverRegressOverPathsOfUnequalLength) {
    build(2, {.spread = sc_core::sc_time(400, sc_core::SC_US)});
    write_in_sequence(*this, 400);
    EXPECT_GT(at(0).card.sender().counters().retransmits, 0u);
}

TEST_F(EfaFabric, SequentialWritesNeverRegressInALossyNetwork) {
    build(2, {.spread = sc_core::sc_time(150, sc_core::SC_US), .loss_ppm = 100'000});
    write_in_sequence(*this, 200);
}

/// A train that is late, and whose packets were repeated meanwhile, is not written.
TEST_F(EfaFabric, LateTrainsOfACompletedWriteAreNotWritten) {
    build(2, {.spread = sc_core::sc_time(400, sc_core::SC_US)});
    auto from = open(0, 1), into = open(1, 0);
    constexpr std::uint32_t size = 1 << 20;
    for (std::uint8_t round = 1; round < 8; ++round) {
        std::memset(at(0).bytes(from.buffer), round, size);
        EXPECT_EQ(status_of(0, from, from.rdma(write, into, 1, size)), 0);
        EXPECT_EQ(std::count(at(1).bytes(into.buffer), at(1).bytes(into.buffer) + size, round),
                  size);
        std::memset(at(1).bytes(into.buffer), 77, size);
        run(1000);
        EXPECT_EQ(std::count(at(1).bytes(into.buffer), at(1).bytes(into.buffer) + size, 77), size);
    }
}

TEST_F(EfaFabric, RepeatedSendThatIsTooLongTakesOneReceive) {
    build(2);
    auto from = open(0, 1), into = open(1, 0);
    at(1).post_receive(into.qp, 5, {{into.key, base, 10}});
    at(1).post_receive(into.qp, 6, {{into.key, base, 4096}});
    auto request = from.to(into, 4);
    request.local = {{from.key, base, 11}};
    at(0).post(from.qp, request);
    run(5);       // the send is under way
    lose_next();  // its answer
    EXPECT_EQ(at(0).wait(from.cq).status, 11);
    EXPECT_EQ(at(0).card.sender().counters().retransmits, 1u);
    EXPECT_EQ(at(1).wait(into.cq).status, 6);
    run(1000);
    EXPECT_FALSE(at(1).poll(into.cq));
}

TEST_F(EfaFabric, EveryKindOfRequestTakesEffectOnceInALossyNetworkOfUnequalPaths) {
    build(2, {.spread = sc_core::sc_time(120, sc_core::SC_US), .loss_ppm = 50'000});
    auto from = open(0, 1), into = open(1, 0);
    std::multiset<std::uint32_t> arrived;
    constexpr std::uint32_t rounds = 24, size = 100'000;
    for (std::uint32_t round = 0; round < rounds; ++round) {
        std::memset(at(0).bytes(from.buffer), static_cast<int>(round + 1), size);
        for (std::uint16_t id = 0; id < 4; ++id)
            at(1).post_receive(into.qp, id, {{into.key, base + (1u << 20) + id * 64u, 64}});
        for (std::uint32_t n = 0; n < 2; ++n) {
            auto message = from.to(into, 1);
            message.inlined = {1};
            message.immediate = round * 4 + n;
            at(0).post(from.qp, message);
            auto notice = from.rdma(write, into, 2, size);
            notice.immediate = round * 4 + 2 + n;
            at(0).post(from.qp, notice);
        }
        at(0).post(from.qp, from.rdma(read, into, 3, 5000, 1 << 20, (1 << 20) + 4096));
        for (unsigned n = 0; n < 5; ++n) EXPECT_EQ(at(0).wait(from.cq, 100'000).status, 0);
        for (unsigned n = 0; n < 4; ++n) arrived.insert(at(1).wait(into.cq).immediate);
        EXPECT_EQ(at(1).bytes(into.buffer)[size - 1], round + 1);
    }
    run(5000);
    EXPECT_FALSE(at(1).poll(into.cq));
    EXPECT_EQ(arrived.size(), 4 * rounds);
    EXPECT_EQ(std::set(arrived.begin(), arrived.end()).size(), 4 * rounds);
}

// --- congestion slows, and never fails ---

/// `count` cards write `blocks` blocks each to card 0. Returns the share of the wire that their
/// data takes.
double write_to_one(EfaFabric& on, unsigned count, unsigned blocks, std::uint32_t block,
                    const std::function<void(std::vector<endpoint>&, endpoint&)>& meanwhile = {}) {
    std::vector<endpoint> from(count);
    endpoint into(on.at(0), on.at(1), {.size = std::uint64_t{count} * block});
    for (unsigned i = 0; i < count; ++i) {
        from[i] = on.open(i + 1, 0, {.size = block});
        on.at(0).create_ah(into.pd, on.at(i + 1).gid());
        std::memset(on.at(i + 1).bytes(from[i].buffer), static_cast<int>(i + 1), block);
    }
    const double start = EfaFabric::now_us();
    for (unsigned n = 0; n < blocks; ++n)
        for (unsigned i = 0; i < count; ++i)
            on.at(i + 1).post(from[i].qp, from[i].rdma(write, into, static_cast<std::uint16_t>(n),
                                                       block, 0, std::uint64_t{i} * block));
    if (meanwhile) meanwhile(from, into);
    for (unsigned i = 0; i < count; ++i)
        for (unsigned n = 0; n < blocks; ++n)
            EXPECT_EQ(on.at(i + 1).wait(from[i].cq, 100'000).status, 0) << i;
    const double seconds = (EfaFabric::now_us() - start) * 1e-6;
    std::uint64_t packets = 0, repeated = 0;
    for (unsigned i = 0; i < count; ++i) {
        const auto* const here = on.at(0).bytes(into.buffer + std::uint64_t{i} * block);
        EXPECT_EQ(std::count(here, here + block, static_cast<std::uint8_t>(i + 1)), block) << i;
        packets += on.at(i + 1).card.sender().counters().packets;
        repeated += on.at(i + 1).card.sender().counters().retransmits;
    }
    if (test::memory_is_slow()) return 1;  // the memory is, not the network
    EXPECT_LT(repeated, packets / 20);
    return double(count) * blocks * block / seconds / (50e9 * 8192 / 8282);
}

TEST_F(EfaFabric, SixteenCardsThatWriteToOneShareItsWire) {
    build(18);
    const double share = write_to_one(*this, 16, 4, 2 << 20, [this](auto&, endpoint& into) {
        run(200);
        auto late = open(17, 0, {.size = 4096});
        at(0).create_ah(into.pd, at(17).gid());
        EXPECT_EQ(status_of(17, late, late.rdma(write, into, 1, 4)), 0);
    });
    EXPECT_GT(share, 0.8);
}

TEST_F(EfaFabric, All143OtherCardsThatWriteToOneShareItsWire) {
    build(144);
    EXPECT_GT(write_to_one(*this, 143, 4, 256 << 10), 0.8);
}

TEST_F(EfaFabric, CardThatReadsFromSixteenOthersReceivesAtTheRateOfItsWire) {
    build(17);
    constexpr std::uint32_t block = 2 << 20;
    std::vector<endpoint> to(16), from(16);
    for (unsigned i = 0; i < 16; ++i) {
        from[i] = open(i + 1, 0);
        to[i] = open(0, i + 1);
        std::memset(at(i + 1).bytes(from[i].buffer), static_cast<int>(i + 1), block);
    }
    const double start = now_us();
    for (unsigned i = 0; i < 16; ++i) at(0).post(to[i].qp, to[i].rdma(read, from[i], 1, block));
    for (unsigned i = 0; i < 16; ++i) {
        EXPECT_EQ(at(0).wait(to[i].cq).status, 0);
        const auto* const here = at(0).bytes(to[i].buffer);
        EXPECT_EQ(std::count(here, here + block, static_cast<std::uint8_t>(i + 1)), block);
    }
    if (test::memory_is_slow()) return;
    EXPECT_GT(16 * block / ((now_us() - start) * 1e-6), 0.8 * 50e9);
    EXPECT_LT(at(0).card.sender().counters().retransmits, 32u);
}

TEST_F(EfaFabric, CardsThatReadFromOneShareItsWire) {
    build(17);
    constexpr std::uint32_t block = 2 << 20;
    std::vector<endpoint> to(16);
    auto from = open(0, 1);
    for (unsigned i = 0; i < 16; ++i) {
        to[i] = open(i + 1, 0);
        at(0).create_ah(from.pd, at(i + 1).gid());
    }
    const double start = now_us();
    for (unsigned i = 0; i < 16; ++i) at(i + 1).post(to[i].qp, to[i].rdma(read, from, 1, block));
    for (unsigned i = 0; i < 16; ++i) EXPECT_EQ(at(i + 1).wait(to[i].cq).status, 0);
    if (test::memory_is_slow()) return;
    EXPECT_GT(16 * block / ((now_us() - start) * 1e-6), 0.8 * 50e9);
}

// --- a silent card ---

TEST_F(EfaFabric, SilentCardIsAskedWithGrowingPausesUntilRequestsFail) {
    build(2);
    auto from = open(0, 1), into = open(1, 0);
    EXPECT_EQ(status_of(0, from, from.rdma(write, into, 1, 64)), 0);
    set_port(1, "port_down");
    for (std::uint16_t id = 2; id < 5; ++id) at(0).post(from.qp, from.rdma(write, into, id, 64));
    const double start = now_us();
    for (unsigned n = 0; n < 3; ++n) EXPECT_EQ(at(0).wait(from.cq).status, 13);
    EXPECT_NEAR(now_us() - start, 12'700, 200);  // 100 us times 1, 2, 4, 8, 16, 32, 32, 32
    EXPECT_LE(at(0).card.sender().counters().retransmits, 8u);
    EXPECT_EQ(network_counter(0, 3), 1u);  // unresponsive remotes
    EXPECT_EQ(network_counter(0, 4), 1u);  // impaired connections
    set_port(1, "port_up");
    EXPECT_EQ(status_of(0, from, from.rdma(write, into, 5, 64)), 0);
}

TEST_F(EfaFabric, CardThatIsSilentForAMillisecondOnlyDelaysItsRequests) {
    build(2);
    auto from = open(0, 1), into = open(1, 0);
    std::memset(at(0).bytes(from.buffer), 9, 2 << 20);
    at(0).post(from.qp, from.rdma(write, into, 1, 2 << 20));
    run(25);
    set_port(1, "port_down");
    run(1000);
    set_port(1, "port_up");
    EXPECT_EQ(at(0).wait(from.cq).status, 0);
    EXPECT_EQ(std::count(at(1).bytes(into.buffer), at(1).bytes(into.buffer) + (2 << 20), 9),
              2 << 20);
    EXPECT_EQ(network_counter(0, 4), 1u);
    EXPECT_EQ(network_counter(0, 3), 0u);
}

TEST_F(EfaFabric, CardThatAnswersAgainIsNotWaitedForAsLongAsASilentOne) {
    build(2);
    auto from = open(0, 1), into = open(1, 0);
    EXPECT_EQ(status_of(0, from, from.rdma(write, into, 1, 64)), 0);
    set_port(1, "port_down");
    at(0).post(from.qp, from.rdma(write, into, 2, 64));
    run(2000);
    set_port(1, "port_up");
    EXPECT_EQ(at(0).wait(from.cq).status, 0);  // the next timeout would have been after 3.2 ms
    const double start = now_us();
    lose_next();
    EXPECT_EQ(status_of(0, from, from.rdma(write, into, 3, 64)), 0);
    EXPECT_LT(now_us() - start, 300);
}

TEST_F(EfaFabric, EndOfALostPacketMakesRoomForOtherQueuePairs) {
    build(2, {}, {.retransmit = sc_core::sc_time(2, sc_core::SC_MS)});
    auto gone = open(0, 1), into = open(1, 0);
    constexpr std::uint16_t depth = 4096;  // with the lost packet one more than may be in flight
    auto from = open(0, 1, {.depth = depth});
    lose_next();
    at(0).post(gone.qp, gone.rdma(write, into, 1, 8));
    for (std::uint16_t id = 0; id < depth; ++id) at(0).post(from.qp, from.rdma(write, into, id, 8));
    run(1000);
    EXPECT_EQ(at(0).execute(admin(4).put(4, gone.qp.handle)).status, 0);
    for (unsigned id = 0; id < depth; ++id) ASSERT_EQ(at(0).wait(from.cq).status, 0) << id;
}

TEST_F(EfaFabric, ResetForgetsThatOtherCardsHaveAnswered) {
    build(2);
    {
        auto from = open(0, 1), into = open(1, 0);
        EXPECT_EQ(status_of(0, from, from.rdma(write, into, 1, 64)), 0);
    }
    at(0).start();
    set_port(1, "port_down");
    auto again = open(0, 1), into = open(1, 0);
    EXPECT_EQ(status_of(0, again, again.rdma(write, into, 1, 64)), 15);
}

TEST_F(EfaFabric, ResetClearsTheCountersOfTheDriver) {
    build(2);
    auto from = open(0, 1), into = open(1, 0);
    EXPECT_EQ(status_of(0, from, from.rdma(write, into, 1, 64)), 0);
    at(0).start();
    for (std::uint8_t type = 0; type < 5; ++type)
        EXPECT_EQ(at(0).execute(admin(13).put(16, type)).u64(8), 0u) << unsigned{type};
}

TEST_F(EfaFabric, QueuePairsOfAResetCardHaveOtherNumbers) {
    build(2);
    const auto before = open(1, 0), other = open(1, 0);
    at(1).start();
    const auto after = open(1, 0);
    EXPECT_NE(after.qp.number, before.qp.number);
    EXPECT_NE(after.qp.number, other.qp.number);
    EXPECT_EQ(after.qp.handle, before.qp.handle);
}

// --- receivers that are not ready ---

TEST_F(EfaFabric, SendsThatWaitForReceivesDoNotDelayOtherQueuePairs) {
    build(2);
    constexpr unsigned depth = 256;
    auto other = open(0, 1), into = open(1, 0, {.depth = depth});
    std::vector<endpoint> waiting{open(0, 1, {.depth = depth}), open(0, 1, {.depth = depth})};
    for (auto& from : waiting)
        for (std::uint16_t id = 0; id < depth; ++id) {
            auto request = from.to(into, id);
            request.inlined = {1};
            at(0).post(from.qp, request);
        }
    run(1000);
    const auto before = at(0).card.sender().counters().packets;
    const double start = now_us();
    EXPECT_EQ(status_of(0, other, other.rdma(write, into, 1, 1 << 20)), 0);
    EXPECT_LT(now_us() - start, 100);
    EXPECT_LT(at(0).card.sender().counters().packets - before, 140u);
    for (unsigned n = 0; n < 2; ++n) {
        for (std::uint16_t id = 0; id < depth; ++id)
            at(1).post_receive(into.qp, id, {{into.key, base, 16}});
        for (unsigned id = 0; id < depth; ++id) EXPECT_EQ(at(1).wait(into.cq).status, 0);
    }
    for (auto& from : waiting)
        for (unsigned id = 0; id < depth; ++id) EXPECT_EQ(at(0).wait(from.cq).status, 0);
    run(1000);
    EXPECT_FALSE(at(1).poll(into.cq));
    EXPECT_LT(now_us() - start, 10'000);
}

TEST_F(EfaFabric, SendsThatWaitForReceivesDoNotDelayOthersOfTheirQueuePair) {
    build(3);
    constexpr unsigned depth = 512;
    auto from = open(0, 1, {.depth = depth});
    auto unready = open(1, 0), into = open(2, 0);
    const auto handle = at(0).create_ah(from.pd, at(2).gid());
    for (std::uint16_t id = 0; id < 300; ++id) {
        auto request = from.to(unready, id);
        request.inlined = {1};
        at(0).post(from.qp, request);
    }
    at(2).post_receive(into.qp, 1, {{into.key, base, 16}});
    auto request = from.to(into, 999);
    request.ah = handle;
    request.inlined = {1};
    const double start = now_us();
    at(0).post(from.qp, request);
    EXPECT_EQ(at(0).wait(from.cq).request_id, 999);
    EXPECT_LT(now_us() - start, 100);
}

TEST_F(EfaFabric, SendsThatWaitTogetherEndAfterTheRetriesOfEach) {
    build(2);
    auto from = open(0, 1, {.retries = 2, .depth = 64}), into = open(1, 0);
    const double start = now_us();
    for (std::uint16_t id = 0; id < 64; ++id) {
        auto request = from.to(into, id);
        request.inlined = {1};
        at(0).post(from.qp, request);
    }
    for (unsigned id = 0; id < 64; ++id) EXPECT_EQ(at(0).wait(from.cq).status, 10);
    EXPECT_LT(now_us() - start, 400);
}

TEST_F(EfaFabric, WritesWithImmediateDataThatWaitForAReceiveDoNotDelayOthers) {
    build(2);
    auto from = open(0, 1), into = open(1, 0);
    for (std::uint16_t id = 0; id < 8; ++id) {
        auto notice = from.rdma(write, into, id, 100'000);
        notice.immediate = id;
        at(0).post(from.qp, notice);
    }
    run(500);
    EXPECT_EQ(status_of(0, from, from.rdma(write, into, 99, 64)), 0);
    for (std::uint16_t id = 0; id < 8; ++id)
        at(1).post_receive(into.qp, id, {{into.key, base, 16}});
    std::set<std::uint32_t> arrived;
    for (unsigned id = 0; id < 8; ++id) {
        EXPECT_EQ(at(0).wait(from.cq).status, 0);
        arrived.insert(at(1).wait(into.cq).immediate);
    }
    EXPECT_EQ(arrived.size(), 8u);
}

// --- states of queue pairs, and their end ---

TEST_F(EfaFabric, QueuePairSendsWhatWasPostedWhileItsQueueWasDrained) {
    build(2);
    auto from = open(0, 1), into = open(1, 0);
    EXPECT_EQ(at(0).modify(from.qp.handle, 4).status, 0);
    at(0).post(from.qp, from.rdma(write, into, 1, 64));
    run(200);
    EXPECT_FALSE(at(0).poll(from.cq));
    EXPECT_EQ(at(0).modify(from.qp.handle, 3).status, 0);
    EXPECT_EQ(at(0).wait(from.cq).status, 0);
}

TEST_F(EfaFabric, ReadOfADestroyedQueuePairEndsWithItsStatus) {
    build(2);
    auto from = open(0, 1), into = open(1, 0);
    EXPECT_EQ(into.pd, 0);
    at(0).post(from.qp, from.rdma(read, into, 1, 2 << 20));
    run(40);  // requests wait at the other card, which sends data
    EXPECT_EQ(at(1).execute(admin(4).put(4, into.qp.handle)).status, 0);
    EXPECT_EQ(at(0).wait(from.cq).status, 9);
}

TEST_F(EfaFabric, PagesOfARegionAreAligned) {
    build(2);
    auto of = open(0, 1);
    EXPECT_EQ(at(0).reg_mr_raw(of.pd, 0, 64, 1, {8}).status, 5);
    EXPECT_EQ(at(0).reg_mr_raw(of.pd, 0, 8192, 1, {0, 4096 + 64}).status, 5);
    EXPECT_EQ(at(0).reg_mr_raw(of.pd, 0, 64, 1, {0x1000}, 13).status, 5);  // page of 8 KiB
    EXPECT_EQ(at(0).reg_mr_raw(of.pd, 0, 64, 1, {0x2000}, 13).status, 0);
    const auto key = at(0).alloc_mr(of.pd, 4);
    at(0).post_fast_register(of.qp, 1, key, 0, 64, 0, 0x1008);
    EXPECT_EQ(at(0).wait(of.cq).status, 6);
}

/// Writes with immediate data that end before all of their packets are there leave nothing behind
/// that later ones could count.
TEST_F(EfaFabric, AbandonedWritesDoNotCompleteLaterOnes) {
    build(2);
    auto into = open(1, 0);
    auto from = open(0, 1);
    for (std::uint16_t round = 0; round < 20; ++round) {
        auto notice = from.rdma(write, into, round, 1 << 20);
        notice.immediate = 1000u + round;
        at(0).post(from.qp, notice);
        run(5 + round);
        EXPECT_EQ(at(0).modify(from.qp.handle, 0).status, 0);
        from.qp.posted = 0;
        at(0).to_rts(from.qp, test::efa_qkey);
    }
    at(1).post_receive(into.qp, 1, {{into.key, base, 16}});
    std::memset(at(0).bytes(from.buffer), 5, 1 << 20);
    auto notice = from.rdma(write, into, 99, 1 << 20);
    notice.immediate = 5;
    EXPECT_EQ(status_of(0, from, notice), 0);
    EXPECT_EQ(at(1).wait(into.cq).immediate, 5u);
    EXPECT_EQ(std::count(at(1).bytes(into.buffer), at(1).bytes(into.buffer) + (1 << 20), 5),
              1 << 20);
}

}  // namespace

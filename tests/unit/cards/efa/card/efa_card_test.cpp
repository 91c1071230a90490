// SPDX-License-Identifier: Apache-2.0
#include "models/cards/efa/card/efa_card.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "models/network/ethernet_fabric/ethernet_fabric.h"
#include "tests/unit/cards/efa/card/verbs_driver.h"

namespace {

using namespace trn;
using test::verbs_driver;
using work = verbs_driver::work;
using command = verbs_driver::command;

constexpr std::uint32_t qkey = 0x1122'3344;
constexpr std::uint64_t va = 0x7f00'0000'0800;  // of the regions; not page aligned

/// Two servers whose cards are connected by one fabric, ports 0 and 1.
struct EfaCardTest : testing::Test {
    explicit EfaCardTest(const efa_card::config& cfg = {}) : a("a", cfg), b("b", cfg) {
        net.port[0].join(a.card.net);
        net.port[1].join(b.card.net);
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
        a.start();
        b.start();
    }
    /// Objects of a process with one queue pair.
    struct endpoint {
        std::uint16_t pd = 0, uar = 0, ah = 0;
        verbs_driver::completion_ring cq;
        verbs_driver::queue qp;
        std::uint64_t buffer = 0;  // 2 MiB of memory
        std::uint32_t key = 0;     // key of the buffer, at virtual address va
    };
    static constexpr std::uint64_t buffer_size = 2 << 20;

    endpoint open(verbs_driver& on, verbs_driver& peer, std::uint8_t type = verbs_driver::srd,
                  std::uint8_t retries = 7, std::uint8_t flags = 0, bool knows_peer = true) {
        endpoint made;
        made.pd = on.alloc_pd();
        made.uar = on.alloc_uar();
        made.cq = on.create_cq(made.uar, 64, {}, true);
        made.qp = on.create_qp(made.pd, made.uar, type, made.cq.number, made.cq.number, 16, flags);
        on.to_rts(made.qp, qkey, retries);
        if (knows_peer) made.ah = on.create_ah(made.pd, peer.gid());
        made.buffer = on.allocate(buffer_size + 4096) + va % 4096;
        made.key = on.reg_mr(made.pd, made.buffer, buffer_size, va);
        return made;
    }
    static void fill(verbs_driver& on, const endpoint& of, std::uint8_t seed,
                     std::uint64_t size = buffer_size) {
        for (std::uint64_t i = 0; i < size; ++i)
            on.bytes(of.buffer)[i] = static_cast<std::uint8_t>(seed + i * 31 + (i >> 12));
    }
    static bool same(verbs_driver& one, std::uint64_t at, verbs_driver& other, std::uint64_t there,
                     std::uint64_t size) {
        return std::equal(one.bytes(at), one.bytes(at) + size, other.bytes(there));
    }
    work to(const endpoint& from, const endpoint& peer, std::uint16_t id) {
        return {.id = id, .to_qp = peer.qp.number, .ah = from.ah, .qkey = qkey};
    }
    work rdma(std::uint8_t operation, const endpoint& from, const endpoint& peer, std::uint16_t id,
              std::uint32_t length, std::uint64_t local = 0, std::uint64_t remote = 0) {
        work made = to(from, peer, id);
        made.operation = operation;
        made.local = {{from.key, va + local, length}};
        made.remote = {peer.key, va + remote, length};
        return made;
    }

    verbs_driver a, b;
    ethernet_fabric net{"net", {}};
};

TEST_F(EfaCardTest, DeviceAttributesNameWhatTheDriverNeeds) {
    const auto device = a.feature(1);
    EXPECT_EQ(device.status, 0);
    EXPECT_EQ(device.u64(8) & 0x3c, 0x3cu);  // features 2 to 5
    EXPECT_NE(device.u64(16) & 1 << 12, 0u);
    EXPECT_GE(device.u32(28), 1u);
    EXPECT_EQ(device.u16(36), 0);  // doorbells in BAR0
    EXPECT_EQ(device.u32(40) & 0x1b, 0x1bu);
    EXPECT_EQ(device.u32(44), 1u << 30);
    EXPECT_EQ(device.u16(56), 400);
    EXPECT_EQ(a.feature(2).u32(8) & 0x1e, 0x1eu);
    const auto hints = a.feature(5);
    EXPECT_EQ(hints.status, 0);
    EXPECT_EQ(hints.u64(8), 0u);
    const auto queues = a.feature(4);
    EXPECT_EQ(queues.u32(8), 256u);
    EXPECT_EQ(queues.u32(16), 32u);
    EXPECT_EQ(queues.u16(36), 2);
    EXPECT_EQ(queues.u16(60), 1);
    EXPECT_EQ(a.feature(7).u32(8), 8u);
    EXPECT_EQ(a.feature(8).status, 3);  // not supported
    EXPECT_NE(a.gid(), b.gid());
    EXPECT_EQ(a.execute(command(77)).status, 2);
}

/// EFA contract 17: GET_STATS of one queue pair, selected by number.
TEST_F(EfaCardTest, QueuePairsHaveCountersOfTheirOwn) {
    endpoint from = open(a, b), other = open(a, b), into = open(b, a);
    const auto statistics = [](verbs_driver& of, const endpoint& whose, std::uint8_t type) {
        return of.execute(
            command(13).put(16, type).put<std::uint8_t>(17, 1).put(18, whose.qp.number));
    };
    for (const std::uint8_t operation : {std::uint8_t{2}, std::uint8_t{1}}) {
        a.post(from.qp, rdma(operation, from, into, 1, 20'000));
        EXPECT_EQ(a.wait(from.cq).status, 0);
    }
    work wrong = rdma(2, other, into, 2, 100);
    wrong.remote.lkey = 0x777;
    a.post(other.qp, wrong);
    EXPECT_EQ(a.wait(other.cq).status, 7);
    wrong = to(other, into, 3);
    wrong.local = {{other.key, va, 500}};
    b.post_receive(into.qp, 4, {{into.key, va, 500}});
    a.post(other.qp, wrong);
    EXPECT_EQ(a.wait(other.cq).status, 0);

    const auto written = statistics(a, from, 3);
    EXPECT_EQ(written.status, 0);
    EXPECT_EQ(written.u64(8), 1u);  // requests
    EXPECT_EQ(written.u64(16), 20'000u);
    EXPECT_EQ(written.u64(24), 0u);  // errors
    EXPECT_EQ(statistics(a, other, 3).u64(24), 1u);
    EXPECT_EQ(statistics(a, from, 2).u64(16), 20'000u);  // read
    EXPECT_EQ(statistics(a, from, 0).u64(24), 20'000u);  // received
    EXPECT_EQ(statistics(b, into, 2).u64(32), 20'000u);  // responses
    EXPECT_EQ(statistics(b, into, 0).u64(8), 20'000u);   // sent, all in responses
    EXPECT_EQ(statistics(b, into, 3).u64(32), 20'000u);  // written by others
    EXPECT_EQ(statistics(a, other, 1).u64(8), 500u);
    EXPECT_EQ(statistics(a, from, 1).u64(16), 0u);    // sends
    EXPECT_EQ(statistics(b, into, 1).u64(24), 500u);  // receive bytes
    EXPECT_EQ(statistics(a, from, 9).status, 5);
    EXPECT_EQ(a.execute(command(4).put(4, from.qp.handle)).status, 0);
    EXPECT_EQ(statistics(a, from, 3).status, 5);
}

/// EFA contract 10: 80 bytes of data in a work request of 128.
TEST_F(EfaCardTest, LongWorkRequestsCarryDataOfSendsAndWrites) {
    EXPECT_NE(a.feature(1).u64(8) & 1 << 9, 0u);
    EXPECT_EQ(a.feature(9).u16(8), 80);
    endpoint from = open(a, b), into = open(b, a);
    auto qp = a.create_qp(from.pd, from.uar, verbs_driver::srd, from.cq.number, from.cq.number, 4,
                          0, 128);
    a.to_rts(qp, qkey);
    b.post_receive(into.qp, 1, {{into.key, va, 1000}});
    work send = to(from, into, 2);
    send.inlined.resize(80);
    std::iota(send.inlined.begin(), send.inlined.end(), std::uint8_t{100});
    a.post(qp, send);
    EXPECT_EQ(a.wait(from.cq).status, 0);
    EXPECT_EQ(b.wait(into.cq).length, 80);
    EXPECT_TRUE(std::equal(send.inlined.begin(), send.inlined.end(), b.bytes(into.buffer)));

    for (std::uint16_t id = 3; id < 8; ++id) {  // past the end of the ring
        work write = to(from, into, id);
        write.operation = 2;
        write.inlined.assign(80, static_cast<std::uint8_t>(id));
        write.remote = {into.key, va + id * 100u, 80};
        a.post(qp, write);
        EXPECT_EQ(a.wait(from.cq).status, 0);
        EXPECT_TRUE(std::equal(write.inlined.begin(), write.inlined.end(),
                               b.bytes(into.buffer + id * 100u)));
    }
    send.inlined.resize(81);
    a.post(qp, send);
    EXPECT_EQ(a.wait(from.cq).status, 6);
    EXPECT_EQ(a.execute(command(4).put(4, qp.handle)).status, 0);
}

TEST_F(EfaCardTest, ShortWorkRequestsCarryNoDataOfWrites) {
    endpoint from = open(a, b), into = open(b, a);
    work write = to(from, into, 1);
    write.operation = 2;
    write.inlined.assign(16, 7);
    write.remote = {into.key, va, 16};
    a.post(from.qp, write);
    EXPECT_EQ(a.wait(from.cq).status, 3);
}

/// Regions of ALLOC_MR, as used by kernel drivers (EFA contract 8, 10).
struct FastRegistration : EfaCardTest {
    std::uint32_t alloc(verbs_driver& on, std::uint16_t pd, std::uint32_t pages) {
        const auto made = on.execute(command(20).put(4, pd).put(8, pages));
        EXPECT_EQ(made.status, 0);
        EXPECT_EQ(made.u32(8), made.u32(12));
        return made.u32(8);
    }
    /// Writes the pages of [at, at + bytes) to a list that crosses a page boundary; returns its
    /// address.
    static std::uint64_t list_of(verbs_driver& on, std::uint64_t at, std::uint64_t bytes) {
        const std::uint64_t list = (on.allocate(3 * 4096) + 4095) / 4096 * 4096 + 4096 - 16;
        for (std::uint64_t page = 0; page * 4096 < bytes; ++page)
            on.store(list + page * 8, at + page * 4096);
        return list;
    }
    static std::uint64_t pages(verbs_driver& on, std::uint64_t count) {
        return (on.allocate((count + 1) * 4096) + 4095) / 4096 * 4096;
    }
    static constexpr std::uint64_t start = 0x5000'0000'0000;
};

TEST_F(FastRegistration, RegionIsWrittenWhileItHasPages) {
    endpoint from = open(a, b), into = open(b, a);
    constexpr std::uint32_t size = 5 * 4096;
    const auto key = alloc(b, into.pd, 8);
    const auto memory = pages(b, 5);
    work write = rdma(2, from, into, 1, size);
    write.remote = {key, start, size};
    fill(a, from, 3);
    a.post(from.qp, write);
    EXPECT_EQ(a.wait(from.cq).status, 7) << "no pages yet";

    b.post_fast_register(into.qp, 0x21, key, start, size, list_of(b, memory, size));
    const auto enrolled = b.wait(into.cq);
    EXPECT_EQ(enrolled.request_id, 0x21);
    EXPECT_EQ(enrolled.status, 0);
    EXPECT_EQ(enrolled.operation(), 3u);
    a.post(from.qp, write);
    EXPECT_EQ(a.wait(from.cq).status, 0);
    EXPECT_TRUE(same(a, from.buffer, b, memory, size));

    b.post_fast_invalidate(into.qp, 0x22, key);
    EXPECT_EQ(b.wait(into.cq).status, 0);
    a.post(from.qp, write);
    EXPECT_EQ(a.wait(from.cq).status, 7) << "no pages any more";
    b.post_fast_register(into.qp, 0x23, key, start, 100, 0, memory);
    EXPECT_EQ(b.wait(into.cq).status, 0);
    write.local[0].length = write.remote.length = 100;
    a.post(from.qp, write);
    EXPECT_EQ(a.wait(from.cq).status, 0);
    EXPECT_EQ(b.execute(command(8).put(4, key)).status, 0);
}

TEST_F(FastRegistration, WrongRequestsAndCommandsAreRefused) {
    endpoint of = open(a, b);
    const auto key = alloc(a, of.pd, 2);
    const auto memory = pages(a, 4);
    const auto how = [&](std::uint32_t which, std::uint64_t length, std::uint64_t list) {
        a.post_fast_register(of.qp, 1, which, start, length, list);
        return a.wait(of.cq).status;
    };
    const auto list = list_of(a, memory, 4 * 4096);
    EXPECT_EQ(how(key, 3 * 4096, list), 6) << "more pages than the region has room for";
    EXPECT_EQ(how(key, 0, list), 6);
    EXPECT_EQ(how(key, 2 * 4096, ~std::uint64_t{0xfff}), 6) << "no memory there";
    EXPECT_EQ(how(of.key, 4096, list), 5) << "a region of REG_MR";
    EXPECT_EQ(how(999, 4096, list), 5);
    EXPECT_EQ(how(key, 4096, list), 0);
    EXPECT_EQ(how(key, 4096, list), 6) << "it has pages already";
    a.post_fast_invalidate(of.qp, 1, of.key);
    EXPECT_EQ(a.wait(of.cq).status, 5);
    for (const std::uint32_t count : {0u, 513u})
        EXPECT_EQ(a.execute(command(20).put(4, of.pd).put(8, count)).status, 5);
    EXPECT_EQ(a.execute(command(20).put<std::uint16_t>(4, 200).put<std::uint32_t>(8, 1)).status, 5);
}

TEST_F(EfaCardTest, SendArrivesInTheReceiveWithImmediateAndSender) {
    endpoint from = open(a, b), into = open(b, a);
    fill(a, from, 1);
    b.post_receive(into.qp, 0x77, {{into.key, va, 1000}, {into.key, va + 5000, 7000}});
    work send = to(from, into, 0x1234);
    send.local = {{from.key, va + 10, 500}, {from.key, va + 4000, 6000}};
    send.immediate = 0xabcd'0123;
    a.post(from.qp, send);
    const auto sent = a.wait(from.cq);
    EXPECT_EQ(sent.request_id, 0x1234);
    EXPECT_EQ(sent.status, 0);
    EXPECT_FALSE(sent.is_receive());
    EXPECT_EQ(sent.qp, from.qp.number);
    const auto got = b.wait(into.cq);
    EXPECT_EQ(got.request_id, 0x77);
    EXPECT_EQ(got.status, 0);
    EXPECT_TRUE(got.is_receive());
    EXPECT_EQ(got.length, 6500);
    EXPECT_EQ(got.immediate, 0xabcd'0123);
    EXPECT_EQ(got.flags & 8, 8);
    EXPECT_EQ(got.ah, into.ah);
    EXPECT_EQ(got.source_qp, from.qp.number);
    std::vector<std::uint8_t> sum(a.bytes(from.buffer + 10), a.bytes(from.buffer + 510));
    sum.insert(sum.end(), a.bytes(from.buffer + 4000), a.bytes(from.buffer + 10'000));
    EXPECT_TRUE(std::equal(sum.begin(), sum.begin() + 1000, b.bytes(into.buffer)));
    EXPECT_TRUE(std::equal(sum.begin() + 1000, sum.end(), b.bytes(into.buffer + 5000)));
}

TEST_F(EfaCardTest, InlineDataNeedsNoMemory) {
    endpoint from = open(a, b), into = open(b, a);
    b.post_receive(into.qp, 1, {{into.key, va, 4096}});
    work send = to(from, into, 2);
    send.inlined = {1, 2, 3, 4, 5, 6, 7};
    a.post(from.qp, send);
    EXPECT_EQ(a.wait(from.cq).status, 0);
    EXPECT_EQ(b.wait(into.cq).length, 7);
    EXPECT_TRUE(std::equal(send.inlined.begin(), send.inlined.end(), b.bytes(into.buffer)));
}

TEST_F(EfaCardTest, ManySendsOfAWrappingRingAllArriveOnce) {
    endpoint from = open(a, b), into = open(b, a);
    std::multiset<std::uint32_t> arrived;
    for (unsigned round = 0; round < 10; ++round) {
        for (std::uint16_t i = 0; i < 16; ++i)
            b.post_receive(into.qp, i, {{into.key, va + i * 4096u, 4096}});
        for (std::uint16_t i = 0; i < 16; ++i) {
            work send = to(from, into, i);
            send.local = {{from.key, va, 100}};
            send.immediate = round * 16 + i;
            a.post(from.qp, send);
        }
        for (unsigned i = 0; i < 16; ++i) {
            EXPECT_EQ(a.wait(from.cq).status, 0);
            arrived.insert(b.wait(into.cq).immediate);
        }
    }
    EXPECT_EQ(arrived.size(), 160u);
    EXPECT_EQ(std::set(arrived.begin(), arrived.end()).size(), 160u);
}

TEST_F(EfaCardTest, SenderWithoutAddressHandleIsReportedByItsGid) {
    endpoint from = open(a, b), into = open(b, a, verbs_driver::srd, 7, 0, false);
    b.post_receive(into.qp, 1, {{into.key, va, 4096}});
    work send = to(from, into, 2);
    send.local = {{from.key, va, 10}};
    a.post(from.qp, send);
    const auto got = b.wait(into.cq);
    EXPECT_EQ(got.ah, 0xffff);
    EXPECT_EQ(std::memcmp(got.gid, a.gid().data(), 16), 0);
}

TEST_F(EfaCardTest, RdmaWriteMovesAMegabyteAndReadBringsItBack) {
    endpoint from = open(a, b), into = open(b, a);
    fill(a, from, 7);
    a.post(from.qp, rdma(2, from, into, 1, 1'000'001, 3, 777));
    EXPECT_EQ(a.wait(from.cq).status, 0);
    EXPECT_TRUE(same(a, from.buffer + 3, b, into.buffer + 777, 1'000'001));
    EXPECT_EQ(b.bytes(into.buffer + 776)[0], 0);
    EXPECT_EQ(b.bytes(into.buffer + 777 + 1'000'001)[0], 0);
    EXPECT_FALSE(b.poll(into.cq));

    std::memset(a.bytes(from.buffer), 0, buffer_size);
    a.post(from.qp, rdma(1, from, into, 2, 1'000'001, 50'000, 777));
    const auto read = a.wait(from.cq);
    EXPECT_EQ(read.status, 0);
    EXPECT_EQ(read.operation(), 1u);
    EXPECT_TRUE(same(a, from.buffer + 50'000, b, into.buffer + 777, 1'000'001));
}

TEST_F(EfaCardTest, WriteWithImmediateTakesOneReceiveWhenAllDataIsThere) {
    endpoint from = open(a, b), into = open(b, a);
    fill(a, from, 9);
    b.post_receive(into.qp, 0x55, {{into.key, va, 16}});
    work write = rdma(2, from, into, 1, 300'000);
    write.immediate = 42;
    a.post(from.qp, write);
    const auto got = b.wait(into.cq);
    EXPECT_TRUE(same(a, from.buffer, b, into.buffer, 300'000));
    EXPECT_EQ(got.request_id, 0x55);
    EXPECT_EQ(got.operation(), 2u);
    EXPECT_EQ(got.immediate, 42u);
    EXPECT_EQ(got.length | got.gid[0] << 16 | got.gid[1] << 24, 300'000);
    EXPECT_EQ(a.wait(from.cq).status, 0);
}

TEST_F(EfaCardTest, UnsolicitedWriteWithImmediateTakesNoReceive) {
    endpoint from = open(a, b), into = open(b, a, verbs_driver::srd, 7, 4);
    work write = rdma(2, from, into, 1, 64);
    write.immediate = 43;
    a.post(from.qp, write);
    const auto got = b.wait(into.cq);
    EXPECT_EQ(got.flags & 0x80, 0x80);
    EXPECT_EQ(got.immediate, 43u);
}

TEST_F(EfaCardTest, DatagramHasAGlobalHeaderAndNeedsNoAnswer) {
    endpoint from = open(a, b, verbs_driver::ud), into = open(b, a, verbs_driver::ud);
    fill(a, from, 3);
    work send = to(from, into, 8);
    send.local = {{from.key, va, 1000}};
    a.post(from.qp, send);  // dropped: no receive is posted
    EXPECT_EQ(a.wait(from.cq).status, 0);
    verbs_driver::run(100);
    EXPECT_FALSE(b.poll(into.cq));
    b.post_receive(into.qp, 9, {{into.key, va, 2000}});
    a.post(from.qp, send);
    const auto got = b.wait(into.cq);
    EXPECT_EQ(got.length, 1040);
    EXPECT_EQ(std::memcmp(b.bytes(into.buffer + 8), a.gid().data(), 16), 0);
    EXPECT_TRUE(same(a, from.buffer, b, into.buffer + 40, 1000));
}

TEST_F(EfaCardTest, OwnGidLeadsBackToTheCard) {
    endpoint one = open(a, a), two = open(a, a);
    fill(a, one, 5);
    a.post(one.qp, rdma(1, one, two, 1, 0x4000));
    EXPECT_EQ(a.wait(one.cq).status, 0);
    a.post_receive(two.qp, 1, {{two.key, va, 4096}});
    work send = to(one, two, 2);
    send.inlined = {9};
    a.post(one.qp, send);
    EXPECT_EQ(a.wait(one.cq).status, 0);
    EXPECT_EQ(a.wait(two.cq).status, 0);
}

TEST_F(EfaCardTest, ErrorsOfOneRequestDoNotStopOthers) {
    endpoint from = open(a, b), into = open(b, a);
    const auto status = [&](work request) {
        a.post(from.qp, request);
        return a.wait(from.cq).status;
    };
    work good = rdma(2, from, into, 1, 64);
    EXPECT_EQ(status(good), 0);
    work bad = good;
    bad.local[0].lkey = 99;
    EXPECT_EQ(status(bad), 5);
    bad = good;
    bad.local[0].address = va + buffer_size - 63;
    EXPECT_EQ(status(bad), 5);
    bad = good;
    bad.remote.lkey = 99;
    EXPECT_EQ(status(bad), 7);
    bad = good;
    bad.remote.address = va - 1;
    EXPECT_EQ(status(bad), 7);
    bad = good;
    bad.remote.length = 65;
    EXPECT_EQ(status(bad), 6);
    bad = good;
    bad.ah = 500;
    EXPECT_EQ(status(bad), 4);
    bad = good;
    bad.to_qp = 0x7fff;
    EXPECT_EQ(status(bad), 9);
    bad = good;
    bad.qkey = 1;
    EXPECT_EQ(status(bad), 9);
    bad = good;
    bad.operation = 5;
    EXPECT_EQ(status(bad), 3);
    work longer = to(from, into, 3);
    longer.local = {{from.key, va, 60'000}};
    EXPECT_EQ(status(longer), 6);
    b.post_receive(into.qp, 5, {{into.key, va, 10}});
    work send = to(from, into, 4);
    send.local = {{from.key, va, 11}};
    EXPECT_EQ(status(send), 11);
    EXPECT_EQ(b.wait(into.cq).status, 6);
    EXPECT_EQ(status(good), 0);
    EXPECT_EQ(b.execute(command(13).put<std::uint8_t>(16, 0)).u64(48), 1u);  // qkey violations
}

TEST_F(EfaCardTest, RegionsPermitOnlyWhatTheyWereRegisteredFor) {
    endpoint from = open(a, b), into = open(b, a);
    const auto read_only = b.reg_mr(into.pd, into.buffer, 8192, va, 4);
    const auto other_domain = b.reg_mr(b.alloc_pd(), into.buffer, 8192, va);
    work write = rdma(2, from, into, 1, 64);
    write.remote.lkey = read_only;
    a.post(from.qp, write);
    EXPECT_EQ(a.wait(from.cq).status, 7);
    work read = rdma(1, from, into, 2, 64);
    read.remote.lkey = read_only;
    a.post(from.qp, read);
    EXPECT_EQ(a.wait(from.cq).status, 0);
    read.remote.lkey = other_domain;
    a.post(from.qp, read);
    EXPECT_EQ(a.wait(from.cq).status, 7);
    EXPECT_EQ(b.execute(command(8).put(4, read_only)).status, 0);
    read.remote.lkey = read_only;
    a.post(from.qp, read);
    EXPECT_EQ(a.wait(from.cq).status, 7);
}

TEST_F(EfaCardTest, RdmaFromAnUnknownPeerIsRefused) {
    endpoint from = open(a, b), into = open(b, a, verbs_driver::srd, 7, 0, false);
    a.post(from.qp, rdma(2, from, into, 1, 64));
    EXPECT_EQ(a.wait(from.cq).status, 14);
}

TEST_F(EfaCardTest, ReceiverThatIsNotReadyIsAskedAgain) {
    endpoint from = open(a, b), into = open(b, a);
    work send = to(from, into, 1);
    send.inlined = {1};
    a.post(from.qp, send);
    verbs_driver::run(500);
    EXPECT_FALSE(a.poll(from.cq));
    b.post_receive(into.qp, 1, {{into.key, va, 64}});
    EXPECT_EQ(a.wait(from.cq).status, 0);
    EXPECT_EQ(b.wait(into.cq).status, 0);
}

TEST_F(EfaCardTest, ReceiverThatStaysNotReadyEndsTheRequestAfterItsRetries) {
    endpoint from = open(a, b, verbs_driver::srd, 2), into = open(b, a);
    work send = to(from, into, 1);
    send.inlined = {1};
    a.post(from.qp, send);
    EXPECT_EQ(a.wait(from.cq).status, 10);
}

TEST_F(EfaCardTest, GidThatNoCardHasIsUnreachable) {
    endpoint from = open(a, b), into = open(b, a);
    auto unused_gid = b.gid();
    unused_gid[14] = 0x40;
    const auto ah = a.create_ah(from.pd, unused_gid);
    work send = to(from, into, 1);
    send.inlined = {1};
    send.ah = ah;
    a.post(from.qp, send);
    EXPECT_EQ(a.wait(from.cq).status, 15);
    EXPECT_EQ(a.execute(command(13).put<std::uint8_t>(16, 4)).u64(32), 1u);  // unresponsive remotes
}

TEST_F(EfaCardTest, IllegalMovesOfAQueuePairAreRefused) {
    const auto pd = a.alloc_pd(), uar = a.alloc_uar();
    const auto cq = a.create_cq(uar, 16);
    const auto qp = a.create_qp(pd, uar, verbs_driver::srd, cq.number, cq.number);
    EXPECT_EQ(a.modify(qp.handle, 2).status, 5);
    EXPECT_EQ(a.modify(qp.handle, 3).status, 5);
    EXPECT_EQ(a.modify(qp.handle, 6).status, 5);
    EXPECT_EQ(a.modify(qp.handle, 1, 5).status, 0);
    EXPECT_EQ(a.modify(qp.handle, 9).status, 5);
    EXPECT_EQ(a.modify(qp.handle, 2).status, 0);
    EXPECT_EQ(a.modify(99, 1).status, 5);
    const auto asked = a.execute(command(3).put(4, qp.handle));
    EXPECT_EQ(asked.u32(8), 2u);
    EXPECT_EQ(a.modify(qp.handle, 0).status, 0);
    EXPECT_EQ(a.execute(command(3).put(4, qp.handle)).u32(8), 0u);
}

TEST_F(EfaCardTest, QueuePairInErrorFlushesItsRequests) {
    endpoint from = open(a, b), into = open(b, a);
    work send = to(from, into, 1);
    send.inlined = {1};
    a.post(from.qp, send);  // waits for a receive
    verbs_driver::run(100);
    EXPECT_EQ(a.modify(from.qp.handle, 6).status, 0);
    EXPECT_EQ(a.wait(from.cq).status, 1);
    send.id = 2;
    a.post(from.qp, send);
    const auto later = a.wait(from.cq);
    EXPECT_EQ(later.status, 1);
    EXPECT_EQ(later.request_id, 2);
}

TEST_F(EfaCardTest, QueuePairInErrorFlushesItsReceives) {
    endpoint of = open(a, b);
    a.post_receive(of.qp, 1, {{of.key, va, 100}});
    a.post_receive(of.qp, 2, {{of.key, va, 100}, {of.key, va + 200, 100}});
    EXPECT_EQ(a.modify(of.qp.handle, 6).status, 0);
    a.post_receive(of.qp, 3, {{of.key, va, 100}});
    for (std::uint16_t id = 1; id <= 3; ++id) {
        const auto done = a.wait(of.cq);
        EXPECT_TRUE(done.is_receive());
        EXPECT_EQ(done.status, 1);
        EXPECT_EQ(done.request_id, id);
        EXPECT_EQ(done.qp, of.qp.number);
        EXPECT_EQ(done.ah, 0xffff);
    }
    EXPECT_EQ(a.modify(of.qp.handle, 0).status, 0);
    a.to_rts(of.qp, qkey);
    verbs_driver::run(100);
    EXPECT_FALSE(a.poll(of.cq));
}

TEST_F(EfaCardTest, DestroyedAddressHandleEndsItsRequests) {
    endpoint from = open(a, b), into = open(b, a);
    work send = to(from, into, 1);
    send.inlined = {1};
    a.post(from.qp, send);  // waits for a receive
    verbs_driver::run(100);
    EXPECT_EQ(a.execute(command(6).put(4, from.ah).put(6, from.pd)).status, 0);
    EXPECT_EQ(a.wait(from.cq).status, 4);
}

TEST_F(EfaCardTest, ObjectsInUseAreBusyAndUnknownOnesIllegal) {
    endpoint from = open(a, b);
    EXPECT_EQ(a.execute(command(15).put(4, from.pd)).status, 7);
    EXPECT_EQ(a.execute(command(17).put(4, from.uar)).status, 7);
    EXPECT_EQ(a.execute(command(10).put(4, from.cq.number)).status, 7);
    EXPECT_EQ(a.execute(command(4).put(4, from.qp.handle)).status, 0);
    EXPECT_EQ(a.execute(command(4).put(4, from.qp.handle)).status, 5);
    EXPECT_EQ(a.execute(command(10).put(4, from.cq.number)).status, 0);
    EXPECT_EQ(a.execute(command(17).put(4, from.uar)).status, 0);
    EXPECT_EQ(a.execute(command(6).put(4, from.ah).put(6, from.pd)).status, 0);
    EXPECT_EQ(a.execute(command(8).put(4, from.key)).status, 0);
    EXPECT_EQ(a.execute(command(15).put(4, from.pd)).status, 0);
    for (const unsigned destroy : {4u, 6u, 8u, 10u, 15u, 17u, 19u})
        EXPECT_EQ(a.execute(command(static_cast<std::uint8_t>(destroy)).put<std::uint32_t>(4, 4000))
                      .status,
                  5)
            << destroy;
}

/// EFA contract 8, 9 and 11: rings have a power of two of whole entries.
TEST_F(EfaCardTest, RingsOfOtherSizesAreRefused) {
    const auto pd = a.alloc_pd(), uar = a.alloc_uar();
    const auto cq = a.create_cq(uar, 16).number;
    const auto event_queue = [&](std::uint16_t depth) {
        command c(18);
        c.put(4, depth).put<std::uint8_t>(6, 3).put<std::uint8_t>(7, 4).put(8, a.allocate(65536));
        return a.execute(c.put<std::uint32_t>(16, 1)).status;
    };
    const auto completion_queue = [&](std::uint16_t depth) {
        command c(9);
        c.put<std::uint8_t>(5, 8).put(6, depth).put(12, a.allocate(65536));
        return a.execute(c.put<std::uint16_t>(24, 1).put(26, uar)).status;
    };
    const auto queue_pair = [&](std::uint32_t send_bytes, std::uint32_t depth,
                                std::uint32_t receive_bytes) {
        command c(1);
        c.put(4, pd).put(6, verbs_driver::srd).put(16, a.allocate(65536));
        c.put<std::uint32_t>(24, cq).put<std::uint32_t>(28, cq);
        c.put(40, send_bytes).put(44, depth).put(48, receive_bytes).put(56, uar);
        return a.execute(c).status;
    };
    for (const auto depth : std::initializer_list<std::uint16_t>{0, 3, 15, 100, 4095}) {
        EXPECT_EQ(event_queue(depth), 5) << depth;
        EXPECT_EQ(completion_queue(depth), 5) << depth;
        EXPECT_EQ(queue_pair(depth * 64u, depth, 256), 5) << depth;
        EXPECT_EQ(queue_pair(1024, 16, depth == 0 ? 1 : depth * 16u), 5) << depth;
    }
    for (const std::uint32_t bytes : {1u, 17u, 255u, 257u, 271u}) {
        EXPECT_EQ(queue_pair(1024, 16, bytes), 5) << bytes;
        EXPECT_EQ(queue_pair(768 + bytes, 16, 256), 5) << bytes;
    }
    EXPECT_EQ(event_queue(16), 0);
    EXPECT_EQ(completion_queue(16), 0);
    EXPECT_EQ(queue_pair(1024, 16, 256), 0);
    EXPECT_EQ(queue_pair(1024, 16, 0), 0);
}

TEST_F(EfaCardTest, QueuePairNumbersOfATableAreUniqueInTheirLowBits) {
    const auto pd = a.alloc_pd(), uar = a.alloc_uar();
    const auto cq = a.create_cq(uar, 16);
    std::set<unsigned> numbers, rings, bells;
    for (unsigned i = 0; i < 256; ++i) {
        const auto qp = a.create_qp(pd, uar, verbs_driver::srd, cq.number, cq.number);
        numbers.insert(qp.number % 256);
        rings.insert(qp.ring);
        bells.insert({qp.send_bell, qp.receive_bell});
        EXPECT_GE(qp.send_bell, 0x1000u);
    }
    EXPECT_EQ(numbers.size(), 256u);
    EXPECT_EQ(rings.size(), 256u);
    EXPECT_EQ(bells.size(), 512u);
    EXPECT_FALSE(bells.contains(cq.bell));
}

TEST_F(EfaCardTest, DoorbellsOfTwoUarsAreInDifferentPages) {
    const endpoint one = open(a, b), two = open(a, b);
    EXPECT_NE(one.qp.send_bell / 4096, two.qp.send_bell / 4096);
    EXPECT_EQ(one.qp.send_bell / 4096, one.qp.receive_bell / 4096);
}

/// A memory list with identical pages, and more entries than one chunk holds.
struct alike_list {
    static constexpr std::uint32_t pages = 511 * 512 + 10;

    explicit alike_list(verbs_driver& on) : chunk0(on.allocate(4096)), chunk1(on.allocate(4096)) {
        const auto target = on.allocate(4096), array_page = on.allocate(4096);
        for (unsigned i = 0; i < 512; ++i) on.store<std::uint64_t>(array_page + i * 8, target);
        for (unsigned i = 0; i < 510; ++i) on.store<std::uint64_t>(chunk0 + i * 8, array_page);
        on.store<std::uint32_t>(chunk0 + 4080, 2 * 8 + 12);
        on.store<std::uint64_t>(chunk0 + 4084, chunk1);
        for (unsigned i = 0; i < 2; ++i) on.store<std::uint64_t>(chunk1 + i * 8, array_page);
    }
    command registration(std::uint16_t pd) const {
        command c(7);
        c.bytes[3] = 6;
        c.put(4, pd).put<std::uint32_t>(8, 4096).put(12, chunk0);
        c.put<std::uint64_t>(40, std::uint64_t{pages} << 12).put<std::uint8_t>(48, 12);
        return c.put<std::uint8_t>(49, 1).put(52, pages).put<std::uint64_t>(56, 0);
    }
    std::uint64_t chunk0, chunk1;
};

TEST_F(EfaCardTest, IndirectPageListsAreFollowed) {
    const alike_list list(a);
    const auto c = list.registration(a.alloc_pd());
    EXPECT_EQ(a.execute(c).status, 0);
    a.store<std::uint64_t>(list.chunk0 + 4084, 0x7000'0000'0000);  // unmapped address
    EXPECT_EQ(a.execute(c).status, 5);
    // A cycle ends after all entries are read.
    a.store<std::uint64_t>(list.chunk0 + 4084, list.chunk0);
    EXPECT_EQ(a.execute(c).status, 0);
}

TEST_F(EfaCardTest, PagesOfAllRegionsTogetherAreBounded) {
    const alike_list list(a);
    const auto c = list.registration(a.alloc_pd());
    std::uint32_t key = 0;
    for (unsigned i = 0; i < (1u << 24) / alike_list::pages; ++i) {
        const auto done = a.execute(c);
        ASSERT_EQ(done.status, 0);
        key = done.u32(8);
    }
    EXPECT_EQ(a.execute(c).status, 1);
    EXPECT_EQ(a.execute(command(8).put(4, key)).status, 0);
    EXPECT_EQ(a.execute(c).status, 0);
}

TEST_F(EfaCardTest, RequestsOfMorePacketsThanTheCardTracksWaitAndAreFlushed) {
    const alike_list list(a);
    endpoint from = open(a, b), into = open(b, a);
    const auto key = a.execute(list.registration(from.pd)).u32(8);
    constexpr std::uint16_t requests = 12;
    for (std::uint16_t id = 0; id < requests; ++id) {
        work write = to(from, into, id);
        write.operation = 2;
        write.local = {{key, 0, alike_list::pages << 12}};  // 130,821 packets
        write.remote = {into.key, va, alike_list::pages << 12};
        a.post(from.qp, write);
    }
    verbs_driver::run(2);
    EXPECT_EQ(a.modify(from.qp.handle, 6).status, 0);
    for (std::uint16_t id = 0; id < requests; ++id) {
        const auto done = a.wait(from.cq);
        EXPECT_EQ(done.request_id, id);
        EXPECT_EQ(done.status, 1);
    }
}

TEST_F(EfaCardTest, AbsurdRegionsAreRefused) {
    const auto pd = a.alloc_pd();
    EXPECT_EQ(a.reg_mr_raw(pd, 0, 1ull << 60, 1, {0}).status, 5);  // more pages than any region
    EXPECT_EQ(a.reg_mr_raw(pd, 0, 0, 1, {0}).status, 5);           // empty
    EXPECT_EQ(a.reg_mr_raw(pd, ~0ull - 10, 4096, 1, {0, 0}).status, 5);  // wraps
    EXPECT_EQ(a.reg_mr_raw(pd, 0, 64, 1, {0}, 3).status, 5);             // pages of 8 bytes
    EXPECT_EQ(a.reg_mr_raw(77, 0, 64, 1, {0}).status, 5);                // no such domain
    EXPECT_EQ(a.reg_mr_raw(pd, 0, 64, 1, {0}).status, 0);
}

TEST_F(EfaCardTest, ArmedCompletionQueueRaisesTheVectorOfItsEventQueueOnce) {
    const auto ring = a.allocate(4096);
    const auto eq = a.create_eq(16, 3, ring);
    const auto pd = a.alloc_pd(), uar = a.alloc_uar();
    auto cq = a.create_cq(uar, 64, eq);
    auto qp = a.create_qp(pd, uar, verbs_driver::ud, cq.number, cq.number);
    a.to_rts(qp, qkey);
    const auto ah = a.create_ah(pd, b.gid());
    const auto send = [&] {
        a.post(qp, {.id = 1, .to_qp = 5, .ah = ah, .qkey = 1, .inlined = {1}});
        verbs_driver::run(50);
    };
    a.set(0x68, eq | 1u << 31);
    send();
    EXPECT_EQ(a.raised[3], 0u);  // the completion queue is not armed
    a.set(cq.bell, 1u << 31);    // an unread entry is present
    verbs_driver::run(50);
    EXPECT_EQ(a.raised[3], 1u);
    EXPECT_EQ(a.load<std::uint32_t>(ring) & 1, 1u);
    EXPECT_EQ(a.load<std::uint16_t>(ring + 8), cq.number);
    send();
    EXPECT_EQ(a.raised[3], 1u);  // disarmed
    a.set(cq.bell, 1u << 31 | 2);
    send();
    EXPECT_EQ(a.load<std::uint32_t>(ring + 16) & 1, 1u);
    EXPECT_EQ(a.raised[3], 1u);  // the event queue is not armed
    a.set(0x68, eq | 1u << 31);  // raised at once for the event posted in between
    EXPECT_EQ(a.raised[3], 2u);
}

TEST_F(EfaCardTest, KeepAlivesComeOnceASecondWhenWanted) {
    verbs_driver::run(1'500'000);
    EXPECT_EQ(a.card.management().counters().events, 0u);
    EXPECT_EQ(a.execute(command(12).put<std::uint8_t>(17, 2).put<std::uint32_t>(24, 0x10)).status,
              0);
    verbs_driver::run(3'500'000);
    EXPECT_EQ(a.card.management().counters().events, 3u);
}

TEST_F(EfaCardTest, ResetForgetsAllObjectsAndWork) {
    endpoint from = open(a, b), into = open(b, a);
    work send = to(from, into, 1);
    send.inlined = {1};
    a.post(from.qp, send);
    verbs_driver::run(100);
    EXPECT_EQ(a.card.sender().unacknowledged(), 1u);
    a.start();
    EXPECT_EQ(a.card.sender().unacknowledged(), 0u);
    EXPECT_EQ(a.card.objects().queue_pairs.size(), 0u);
    a.set(from.qp.send_bell, 5);  // the doorbell was freed
    verbs_driver::run(5'000);
    EXPECT_FALSE(a.poll(from.cq));
    EXPECT_EQ(a.execute(command(4).put(4, from.qp.handle)).status, 5);
    open(a, b);
}

TEST_F(EfaCardTest, CountersCountThePacketsOfTrains) {
    endpoint from = open(a, b), into = open(b, a);
    const auto basic = [](verbs_driver& on) {  // statistics of the card: basic
        return on.execute(command(13).put<std::uint8_t>(16, 0));
    };
    const auto sent = basic(a), received = basic(b);
    a.post(from.qp, rdma(2, from, into, 1, 1'000'000));
    EXPECT_EQ(a.wait(from.cq).status, 0);
    constexpr unsigned packets = (1'000'000 + 8191) / 8192;
    EXPECT_EQ(basic(a).u64(8) - sent.u64(8), 1'000'000u);
    EXPECT_EQ(basic(a).u64(16) - sent.u64(16), packets);
    EXPECT_EQ(basic(b).u64(24) - received.u64(24), 1'000'000u);
    EXPECT_EQ(basic(b).u64(32) - received.u64(32), packets);
}

TEST_F(EfaCardTest, LatencyOfAWriteAndRateOfAStream) {
    endpoint from = open(a, b), into = open(b, a);
    fill(a, from, 1);
    a.post(from.qp, rdma(2, from, into, 1, 8));
    double latency = 0;
    while (b.bytes(into.buffer)[7] != a.bytes(from.buffer)[7] && latency < 100) {
        verbs_driver::run(0.1);
        latency += 0.1;
    }
    EXPECT_GT(latency, 13.0);
    EXPECT_LT(latency, 16.5);
    a.wait(from.cq);
    const auto before = sc_core::sc_time_stamp();
    for (std::uint16_t i = 0; i < 16; ++i) a.post(from.qp, rdma(2, from, into, i, buffer_size));
    for (unsigned i = 0; i < 16; ++i) EXPECT_EQ(a.wait(from.cq).status, 0);
    const double seconds = (sc_core::sc_time_stamp() - before).to_seconds();
    EXPECT_GT(16.0 * buffer_size / seconds, 0.93 * 50e9 * 8192 / 8282);
}

struct LossyEfaCardTest : EfaCardTest {
    void lose(const char* ppm) { net.inject("loss", {{"ppm", ppm}}); }
    void lose_next(const char* count) { net.inject("lose", {{"count", count}}); }
};

TEST_F(LossyEfaCardTest, OnlyTheLostPacketsOfATrainAreSentAgain) {
    endpoint from = open(a, b), into = open(b, a);
    fill(a, from, 3);
    constexpr unsigned size = 1 << 20, packets = size / 8192, lost = 3;
    const auto& of = a.card.sender().counters();
    const auto at_first = net.counters();
    lose_next("3");
    a.post(from.qp, rdma(2, from, into, 1, size));
    EXPECT_EQ(a.wait(from.cq, 10'000).status, 0);
    EXPECT_TRUE(same(a, from.buffer, b, into.buffer, size));
    EXPECT_EQ(net.counters().lost - at_first.lost, lost);
    EXPECT_EQ(of.retransmits, lost);
    EXPECT_EQ(of.packets, packets + lost);
    EXPECT_EQ(net.counters().bytes - at_first.bytes, size + lost * 8192);
    constexpr unsigned acknowledgements = packets / 8 + lost;  // of trains and of repeated packets
    EXPECT_EQ(net.counters().packets - at_first.packets, packets + lost + acknowledgements);
    fill(b, into, 9);
    lose_next("3");  // of the requests
    a.post(from.qp, rdma(1, from, into, 2, size));
    EXPECT_EQ(a.wait(from.cq, 10'000).status, 0);
    EXPECT_TRUE(same(a, from.buffer, b, into.buffer, size));
    EXPECT_EQ(of.retransmits, 2 * lost);
}

TEST_F(LossyEfaCardTest, ReadsOfALossyNetworkBringAllBytes) {
    endpoint from = open(a, b), into = open(b, a);
    for (std::uint8_t round = 0; round < 4; ++round) {
        fill(b, into, round);
        lose("100000");  // of requests and of data
        a.post(from.qp, rdma(1, from, into, round, (1 << 20) + 5, 0, 9));
        EXPECT_EQ(a.wait(from.cq, 400'000).status, 0);
        EXPECT_TRUE(same(a, from.buffer, b, into.buffer + 9, (1 << 20) + 5));
        lose("0");
    }
}

TEST_F(LossyEfaCardTest, LostPacketsAreSentAgainAndArriveOnce) {
    endpoint from = open(a, b), into = open(b, a);
    fill(a, from, 1);
    lose("100000");
    a.post(from.qp, rdma(2, from, into, 1, 1 << 20));
    EXPECT_EQ(a.wait(from.cq, 200'000).status, 0);
    EXPECT_TRUE(same(a, from.buffer, b, into.buffer, 1 << 20));
    EXPECT_GT(a.card.sender().counters().retransmits, 0u);
    unsigned arrived = 0;
    for (unsigned round = 0; round < 8; ++round) {
        for (std::uint16_t i = 0; i < 16; ++i) {
            b.post_receive(into.qp, i, {{into.key, va, 64}});
            work send = to(from, into, i);
            send.inlined = {1};
            a.post(from.qp, send);
        }
        for (unsigned i = 0; i < 16; ++i) {
            EXPECT_EQ(a.wait(from.cq, 200'000).status, 0);
            EXPECT_EQ(b.wait(into.cq, 200'000).status, 0);
            ++arrived;
        }
        EXPECT_FALSE(b.poll(into.cq));
    }
    EXPECT_EQ(arrived, 128u);
    EXPECT_GT(a.execute(command(13).put<std::uint8_t>(16, 4)).u64(24), 0u);  // timeouts
}

}  // namespace

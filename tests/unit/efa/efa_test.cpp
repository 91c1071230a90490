// SPDX-License-Identifier: Apache-2.0
#include "models/efa/efa.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/pci_regs.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <vector>

#include "models/efa/efa_entry_regs.h"
#include "models/efa/efa_regs.h"
#include "models/ethernet_fabric/ethernet_fabric.h"
#include "models/pcie/pcie_endpoint.h"
#include "models/root_complex/root_complex.h"
#include "platform/app/in_process/in_process.h"
#include "platform/framework/misuse/misuse.h"
#include "sw-stubs/driver/include/trn_efa.h"
#include "tests/unit/root_complex/server_fixture.h"

namespace {

using namespace trn;
using efa_regs::offset;
using efa_regs::reg;

constexpr std::uint64_t MiB = 1 << 20;

/// A server: a host, a card with HBM in port 0, an EFA card in port 1.
struct server {
    server(const std::string& name, const efa::config& cfg)
        : host((name + "_host").c_str(), {.memory = 256 * MiB, .ports = 2}),
          chip(name + "_chip"),
          pcie((name + "_nic_pcie").c_str(), {.device_id = 0xefa3,
                                              .class_code = 0x020000,
                                              .bar0_size = 0x10000,
                                              .bar4_size = 0,
                                              .link_width = 16}),
          nic((name + "_nic").c_str(), cfg) {
        host.port[0].join(chip.endpoint.link);
        host.port[1].join(pcie.link);
        pcie.bar0.bind(nic.registers);
        nic.dma.bind(pcie.dma);
        nic.irq.bind(pcie.msix, 0);
        pcie.function_reset.bind(nic.reset);
    }
    void start() {
        test::turn_on(host.function(0));
        cpu.emplace(host.function(1), host_cpu::config{});
        door = cpu->transport();
    }
    std::uint64_t hbm(std::uint64_t offset) { return host.function(0).bar(4).bus_address + offset; }

    root_complex host;
    test::card chip;
    pcie_endpoint pcie;
    efa nic;
    std::optional<host_cpu> cpu;
    trn_transport door{};
};

struct EfaTest : testing::Test {
    explicit EfaTest(const efa::config& cfg = {}) : a("a", cfg), b("b", cfg) {
        net.port[0].join(a.nic.net);
        net.port[1].join(b.nic.net);
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
        a.start();
        b.start();
        std::mt19937_64 random(1);
        for (std::uint64_t i = 0; i < 64 * MiB; i += 8) {
            const auto value = random();
            std::memcpy(a.chip.hbm.bytes().data() + i, &value, sizeof value);
        }
    }
    /// Runs a program on a's host; b shares its first 64 MiB of HBM as region 3.
    void drive(const std::function<void(trn_efa*, trn_efa_queue*)>& program,
               std::uint32_t access = TRN_EFA_REMOTE_READ | TRN_EFA_REMOTE_WRITE) {
        b.cpu->run([&] {
            ASSERT_EQ(trn_efa_open(&b.door, &far), 0);
            ASSERT_EQ(trn_efa_address(far, &address), 0);
            ASSERT_EQ(trn_efa_share(far, 3, b.hbm(0), 64 * MiB, access), 0);
        });
        sc_core::sc_start(1, sc_core::SC_MS);
        a.cpu->run([&] {
            trn_efa* card = nullptr;
            trn_efa_queue* queue = nullptr;
            ASSERT_EQ(trn_efa_open(&a.door, &card), 0);
            ASSERT_EQ(trn_efa_queue_open(card, 5, 64, &queue), 0);
            program(card, queue);
            trn_efa_queue_close(queue);
            trn_efa_close(card);
        });
        for (int ms = 0; ms < 200 && !a.cpu->idle(); ++ms) sc_core::sc_start(1, sc_core::SC_MS);
        ASSERT_TRUE(a.cpu->idle());
        a.cpu->rethrow();
        b.cpu->rethrow();
    }
    trn_efa_request request(std::uint32_t what, std::uint32_t id, std::uint64_t local,
                            std::uint64_t remote, std::uint32_t length) {
        return {.what = what,
                .id = id,
                .card = address,
                .region = 3,
                .length = length,
                .local = a.hbm(local),
                .remote = b.hbm(remote),
                .notice = 0,
                .value = 0,
                .notice_region = 0};
    }
    static trn_efa_completion wait(trn_efa_queue* queue) {
        trn_efa_completion done{};
        EXPECT_EQ(trn_efa_wait(queue, 100'000'000, &done), 0);
        return done;
    }
    bool same(std::uint64_t local, std::uint64_t remote, std::uint64_t length) {
        return std::equal(a.chip.hbm.bytes().data() + local,
                          a.chip.hbm.bytes().data() + local + length,
                          b.chip.hbm.bytes().data() + remote);
    }
    static double seconds() { return sc_core::sc_time_stamp().to_seconds(); }

    ethernet_fabric net{"net", {.ports = 2}};
    server a, b;
    trn_efa* far = nullptr;
    std::uint16_t address = 0;
};

TEST_F(EfaTest, WritesFromOneServersHbmIntoAnothers) {
    drive([&](trn_efa*, trn_efa_queue* queue) {
        const auto r = request(TRN_EFA_WRITE, 77, 12'345, 4'321, 3 * MiB + 17);
        ASSERT_EQ(trn_efa_post(queue, &r), 0);
        const auto done = wait(queue);
        EXPECT_EQ(done.id, 77u);
        EXPECT_EQ(done.status, std::uint32_t{TRN_EFA_OK});
        EXPECT_EQ(done.length, 3 * MiB + 17);
    });
    EXPECT_EQ(address, 1);
    EXPECT_TRUE(same(12'345, 4'321, 3 * MiB + 17));
    EXPECT_EQ(b.chip.hbm.bytes().data()[4'320], 0);
    EXPECT_EQ(b.chip.hbm.bytes().data()[4'321 + 3 * MiB + 17], 0);
    EXPECT_EQ(a.nic.counters().sent, 3 * MiB + 17);
    EXPECT_GT(a.nic.counters().out_of_order, 0u);  // the paths differ
}

TEST_F(EfaTest, ReadsFromAnotherServersHbm) {
    std::copy_n(a.chip.hbm.bytes().data(), 2 * MiB, b.chip.hbm.bytes().data() + MiB);
    drive([&](trn_efa*, trn_efa_queue* queue) {
        const auto r = request(TRN_EFA_READ, 1, 32 * MiB + 5, MiB, 2 * MiB);
        ASSERT_EQ(trn_efa_post(queue, &r), 0);
        EXPECT_EQ(wait(queue).status, std::uint32_t{TRN_EFA_OK});
    });
    EXPECT_TRUE(same(32 * MiB + 5, MiB, 2 * MiB));
    EXPECT_EQ(b.nic.counters().sent, 2 * MiB);
}

TEST_F(EfaTest, ShortWriteTakesFifteenMicroseconds) {
    double taken = 0;
    drive([&](trn_efa*, trn_efa_queue* queue) {
        auto r = request(TRN_EFA_WRITE, 1, 0, 0, 8);
        ASSERT_EQ(trn_efa_post(queue, &r), 0);
        wait(queue);  // the pointers are cached now
        r.local = a.hbm(8);
        const double start = seconds();
        ASSERT_EQ(trn_efa_post(queue, &r), 0);
        while (!same(8, 0, 8)) sc_core::wait(10, sc_core::SC_NS);
        taken = seconds() - start;
        wait(queue);
    });
    EXPECT_GT(taken, 14e-6);
    EXPECT_LT(taken, 16e-6);
}

TEST_F(EfaTest, OneCardReachesItsRateMinusHeaders) {
    double taken = 0;
    drive([&](trn_efa* card, trn_efa_queue* queue) {
        std::uint32_t rate = 0;
        ASSERT_EQ(trn_efa_rate(card, &rate), 0);
        EXPECT_EQ(rate, 400'000u);
        const double start = seconds();
        for (std::uint32_t i = 0; i < 16; ++i) {
            const auto r = request(TRN_EFA_WRITE, i, 0, 0, 4 * MiB);
            ASSERT_EQ(trn_efa_post(queue, &r), 0);
        }
        for (std::uint32_t i = 0; i < 16; ++i) EXPECT_EQ(wait(queue).id, i);
        taken = seconds() - start;
    });
    const double wire = 50e9 * 8192 / (8192 + 90);  // Table: 400 Gb/s
    const double measured = 64 * static_cast<double>(MiB) / taken;
    EXPECT_LT(measured, wire);
    EXPECT_GT(measured, wire * 0.96);  // the first packet's way and the last's acknowledgement
}

TEST_F(EfaTest, LostPacketsAreRetransmittedAndCompletionsStayInOrder) {
    net.inject("loss", {{"ppm", "20000"}});
    drive([&](trn_efa*, trn_efa_queue* queue) {
        for (std::uint32_t i = 0; i < 8; ++i) {
            const auto what = i % 2 == 0 ? TRN_EFA_WRITE : TRN_EFA_READ;
            const auto r = request(what, i, i * MiB, i * MiB, MiB);
            ASSERT_EQ(trn_efa_post(queue, &r), 0);
        }
        for (std::uint32_t i = 0; i < 8; ++i) {
            const auto done = wait(queue);
            EXPECT_EQ(done.id, i);
            EXPECT_EQ(done.status, std::uint32_t{TRN_EFA_OK});
        }
    });
    EXPECT_GT(net.counters().lost, 0u);
    EXPECT_GT(a.nic.counters().retransmits, 0u);
    for (std::uint64_t i = 0; i < 8; ++i) EXPECT_TRUE(same(i * MiB, i * MiB, MiB)) << i;
}

TEST_F(EfaTest, LostCardFailsItsRequestsAndRecovers) {
    drive([&](trn_efa*, trn_efa_queue* queue) {
        net.inject("port_down", {{"port", "1"}});
        auto r = request(TRN_EFA_WRITE, 1, 0, 0, MiB);
        ASSERT_EQ(trn_efa_post(queue, &r), 0);
        EXPECT_EQ(wait(queue).status, std::uint32_t{TRN_EFA_UNREACHABLE});
        net.inject("port_up", {{"port", "1"}});
        ASSERT_EQ(trn_efa_post(queue, &r), 0);
        EXPECT_EQ(wait(queue).status, std::uint32_t{TRN_EFA_OK});
    });
    EXPECT_TRUE(same(0, 0, MiB));
}

TEST_F(EfaTest, RegionAccessIsLimitedToItsPermissions) {
    drive(
        [&](trn_efa*, trn_efa_queue* queue) {
            auto refused = [&](trn_efa_request r) {
                EXPECT_EQ(trn_efa_post(queue, &r), 0);
                return wait(queue).status;
            };
            EXPECT_EQ(refused(request(TRN_EFA_WRITE, 1, 0, 0, 64)),
                      std::uint32_t{TRN_EFA_REMOTE_ACCESS});
            EXPECT_EQ(refused(request(TRN_EFA_READ, 2, 0, 64 * MiB - 32, 64)),
                      std::uint32_t{TRN_EFA_REMOTE_ACCESS});
            auto other = request(TRN_EFA_READ, 3, 0, 0, 64);
            other.region = 4;
            EXPECT_EQ(refused(other), std::uint32_t{TRN_EFA_REMOTE_ACCESS});
            auto nowhere = request(TRN_EFA_READ, 4, 0, 0, 64);
            nowhere.local = 0x7fff'0000'0000;
            EXPECT_EQ(refused(nowhere), std::uint32_t{TRN_EFA_LOCAL_ACCESS});
            EXPECT_EQ(refused(request(TRN_EFA_READ, 5, 0, 0, 0)),
                      std::uint32_t{TRN_EFA_BAD_REQUEST});
            EXPECT_EQ(refused(request(9, 6, 0, 0, 64)), std::uint32_t{TRN_EFA_BAD_REQUEST});
            EXPECT_EQ(refused(request(TRN_EFA_READ, 7, 0, 0, 64)), std::uint32_t{TRN_EFA_OK});
        },
        TRN_EFA_REMOTE_READ);
    EXPECT_EQ(b.chip.hbm.bytes().data()[0], 0);
}

TEST_F(EfaTest, PulledCardFailsItsRequestsWithoutHanging) {
    drive([&](trn_efa*, trn_efa_queue* queue) {
        auto r = request(TRN_EFA_WRITE, 1, 0, 0, 16 * MiB);
        ASSERT_EQ(trn_efa_post(queue, &r), 0);
        sc_core::wait(100, sc_core::SC_US);
        a.host.inject("card_removed", {{"port", "0"}});  // the chip whose HBM is being read
        EXPECT_EQ(wait(queue).status, std::uint32_t{TRN_EFA_LOCAL_ACCESS});
    });
}

/// A card that others write to is pulled: it does not even refuse. When it is back it has
/// nothing.
TEST_F(EfaTest, PulledCardAnswersNoFrame) {
    drive([&](trn_efa*, trn_efa_queue* queue) {
        b.host.inject("card_removed", {{"port", "1"}});  // the other side's card
        const auto reports = misuse::reports();
        auto r = request(TRN_EFA_WRITE, 1, 0, 0, 64);
        ASSERT_EQ(trn_efa_post(queue, &r), 0);
        EXPECT_EQ(wait(queue).status, std::uint32_t{TRN_EFA_UNREACHABLE});
        EXPECT_EQ(b.nic.counters().received, 0u);
        EXPECT_EQ(misuse::reports(), reports);
        b.host.inject("card_inserted", {{"port", "1"}});
        r.id = 2;
        ASSERT_EQ(trn_efa_post(queue, &r), 0);
        EXPECT_EQ(wait(queue).status, std::uint32_t{TRN_EFA_REMOTE_ACCESS});  // no region any more
    });
}

TEST_F(EfaTest, QueueStateReportsARemovedAndAReplacedCard) {
    drive([&](trn_efa* card, trn_efa_queue* queue) {
        const auto state = [&] {
            std::uint32_t value = 99;
            EXPECT_EQ(trn_efa_queue_state(queue, &value), 0);
            return value;
        };
        trn_efa_completion done{};
        EXPECT_EQ(state(), std::uint32_t{TRN_EFA_QUEUE_RUNS});
        a.host.inject("card_removed", {{"port", "1"}});
        EXPECT_EQ(state(), std::uint32_t{TRN_EFA_QUEUE_ABSENT});
        EXPECT_EQ(trn_efa_wait(queue, 1'000'000, &done), -EIO);
        a.host.inject("card_inserted", {{"port", "1"}});
        EXPECT_EQ(state(), std::uint32_t{TRN_EFA_QUEUE_LOST});
        EXPECT_EQ(trn_efa_reset(card), 0);
        EXPECT_EQ(trn_efa_wait(queue, 1'000'000, &done), -EIO);
    });
}

TEST_F(EfaTest, WriteIsNotifiedOnceAfterAllItsData) {
    constexpr std::uint64_t word = 48 * MiB;
    net.inject("loss", {{"ppm", "20000"}});
    drive([&](trn_efa*, trn_efa_queue* queue) {
        auto r = request(TRN_EFA_NOTIFY, 1, 0, 0, 8 * MiB);
        r.notice = b.hbm(word);
        r.notice_region = 3;
        r.value = 7;
        ASSERT_EQ(trn_efa_post(queue, &r), 0);
        while (b.chip.hbm.bytes().data()[word] == 0) sc_core::wait(100, sc_core::SC_NS);
        EXPECT_TRUE(same(0, 0, 8 * MiB)) << "announced before it was there";
        b.chip.hbm.bytes().data()[word] = 0;
        EXPECT_EQ(wait(queue).status, std::uint32_t{TRN_EFA_OK});
        r.length = 0;  // only the notification
        for (int n = 0; n < 50; ++n) ASSERT_EQ(trn_efa_post(queue, &r), 0);
        for (int n = 0; n < 50; ++n) EXPECT_EQ(wait(queue).status, std::uint32_t{TRN_EFA_OK});
    });
    EXPECT_GT(a.nic.counters().retransmits, 0u);
    EXPECT_EQ(b.nic.counters().notices, 51u);
    EXPECT_EQ(b.chip.hbm.bytes().data()[word], 7);
}

/// A packet assumed lost arrives when its memory has been reused.
TEST_F(EfaTest, RetransmissionAfterTheNotificationIsNotWritten) {
    drive([&](trn_efa*, trn_efa_queue* queue) {
        auto r = request(TRN_EFA_NOTIFY, 1, 0, 0, 64);
        r.notice = b.hbm(48 * MiB);
        r.notice_region = 3;
        r.value = 1;
        ASSERT_EQ(trn_efa_post(queue, &r), 0);
        while (net.counters().packets == 0) sc_core::wait(100, sc_core::SC_NS);
        net.inject("lose", {{"count", "1"}});  // the acknowledgement
        while (b.nic.counters().notices == 0) sc_core::wait(100, sc_core::SC_NS);
        b.chip.hbm.bytes().data()[0] = static_cast<std::uint8_t>(~a.chip.hbm.bytes().data()[0]);
        EXPECT_EQ(wait(queue).status, std::uint32_t{TRN_EFA_OK});
    });
    EXPECT_EQ(a.nic.counters().retransmits, 1u);
    EXPECT_EQ(b.nic.counters().notices, 1u);
    EXPECT_FALSE(same(0, 0, 1));
}

TEST_F(EfaTest, NotificationOutsideARegionIsRefusedWithItsData) {
    drive([&](trn_efa*, trn_efa_queue* queue) {
        auto r = request(TRN_EFA_NOTIFY, 1, 0, 0, 64);
        r.notice = b.hbm(64 * MiB - 2);
        r.notice_region = 3;
        ASSERT_EQ(trn_efa_post(queue, &r), 0);
        EXPECT_EQ(wait(queue).status, std::uint32_t{TRN_EFA_REMOTE_ACCESS});
    });
    EXPECT_EQ(b.nic.counters().received, 0u);
}

TEST_F(EfaTest, LentQueueNotifiesEverySuccessfulCompletion) {
    constexpr std::uint64_t rings = 32 * MiB, completions = 33 * MiB, word = 34 * MiB;
    drive([&](trn_efa* card, trn_efa_queue*) {
        const trn_efa_rings lent{.entries = 16,
                                 .requests = a.hbm(rings),
                                 .completions = a.hbm(completions),
                                 .notify = a.hbm(word)};
        EXPECT_EQ(trn_efa_queue_lend(card, 64, &lent), -EINVAL);
        auto wrong = lent;
        wrong.entries = 17;
        EXPECT_EQ(trn_efa_queue_lend(card, 9, &wrong), -EINVAL);
        ASSERT_EQ(trn_efa_queue_lend(card, 9, &lent), 0);
        auto* const memory = a.chip.hbm.bytes().data();
        std::memset(memory + word, 0, 4);
        const auto post = [&](std::uint32_t number, const trn_efa_request& r) {
            trn_efa_encode(&r, memory + rings + (number - 1) * TRN_EFA_REQUEST_BYTES);
            a.door.bar_write32(a.door.context, 0, offset(reg::qp_sq_tail, 9), number);
            sc_core::wait(100, sc_core::SC_US);
        };
        auto bad = request(TRN_EFA_WRITE, 1, 0, 0, 64);
        bad.region = 4;
        post(1, bad);
        namespace entry = efa_entry_regs;
        std::uint32_t outcome = 0;
        std::memcpy(
            &outcome,
            memory + completions + entry::offset(entry::reg::completion) - TRN_EFA_REQUEST_BYTES,
            sizeof outcome);
        EXPECT_EQ(entry::completion::status.get(outcome), entry::completion::status_remote_access);
        EXPECT_EQ(memory[word], 0) << "it did not end well";
        post(2, request(TRN_EFA_WRITE, 2, 0, 0, 64));
        EXPECT_EQ(memory[word], 1);
    });
    EXPECT_TRUE(same(0, 0, 64));
}

TEST_F(EfaTest, CompletionRaisesItsVector) {
    unsigned heard = 0;
    a.host.function(1).on_interrupt(0, [&] { ++heard; });
    drive([&](trn_efa*, trn_efa_queue* queue) {
        a.door.bar_write32(a.door.context, 0, offset(reg::irq_enable), 1);
        const auto r = request(TRN_EFA_WRITE, 1, 0, 0, 64);
        ASSERT_EQ(trn_efa_post(queue, &r), 0);
        wait(queue);
        EXPECT_EQ(heard, 1u);
    });
}

TEST_F(EfaTest, RequestsBeyondTheRingSizeStopTheQueue) {
    drive([&](trn_efa*, trn_efa_queue* queue) {
        a.door.bar_write32(a.door.context, 0, offset(reg::qp_sq_tail, 5), 65);
        trn_efa_completion done{};
        EXPECT_EQ(trn_efa_wait(queue, 1'000'000, &done), -EIO);
        std::uint32_t state = 0;
        EXPECT_EQ(trn_efa_queue_state(queue, &state), 0);
        EXPECT_EQ(state, std::uint32_t{TRN_EFA_QUEUE_STOPPED});
    });
}

struct EfaGenerations : EfaTest {
    EfaGenerations() : EfaTest({.generation = efa_generation::v3}) {}
};

TEST_F(EfaGenerations, SixtyFourTrainium2CardsReachTheDocumentedRackRate) {
    drive([&](trn_efa* card, trn_efa_queue*) {
        std::uint32_t rate = 0;
        ASSERT_EQ(trn_efa_rate(card, &rate), 0);
        EXPECT_EQ(64ull * rate, 12'800'000ull);  // 12.8 Tb/s: 64 chips, a card of 200 Gb/s each
    });
    // 28.8 Tb/s: 144 chips with 200 Gb/s each are 72 cards of 400 Gb/s.
    EXPECT_EQ(72 * efa::config{}.bytes_per_second() * 8, 28'800'000'000'000ull);
}

}  // namespace

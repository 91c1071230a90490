// SPDX-License-Identifier: Apache-2.0
// Random requests between three cards, with loss, silent ports, stopped queue pairs, destroyed
// address handles and card resets: every request that is left ends, and takes effect once.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/unit/cards/efa/card/efa_fixture.h"

namespace {

using namespace trn;
using test::verbs_driver;
using admin = verbs_driver::command;

struct EfaRandomWork : testing::TestWithParam<unsigned> {
    static constexpr unsigned cards = 3, pairs = 5, depth = 64;
    static constexpr std::uint8_t read = 1, write = 2, flushed = 1;

    /// One end of two queue pairs that send to each other.
    struct side {
        unsigned card = 0;
        side* peer = nullptr;
        test::efa_endpoint is = {};
        std::uint16_t next_id = 1;
        std::map<std::uint16_t, std::uint32_t> open =
            {};  // immediate data of requests by id; 0: none
        unsigned receives = 0;
    };

    EfaRandomWork()
        : net("net", {.ports = cards, .spread = sc_core::sc_time(pick(3) * 10.0, sc_core::SC_US)}) {
        for (unsigned i = 0; i < cards; ++i) {
            driver.push_back(std::make_unique<verbs_driver>(
                "s" + std::to_string(i), efa_card::config{.window = pick(3) == 0 ? 4u : 512u,
                                                          .keep_alive = sc_core::SC_ZERO_TIME}));
            net.port[i].join(driver.back()->card.net);
        }
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
        for (auto& each : driver) each->start();
        for (unsigned n = 0; n < pairs; ++n) {
            side &a = sides[2 * n], &b = sides[2 * n + 1];
            a.card = pick(cards);
            b.card = n == 0 ? a.card : pick(cards);
            a.peer = &b;
            b.peer = &a;
            const auto retries = static_cast<std::uint8_t>(pick(2) == 0 ? 7 : pick(4));
            for (side* each : {&a, &b}) make(*each, retries);
        }
    }
    unsigned pick(unsigned count) { return static_cast<unsigned>(random() % count); }
    verbs_driver& on(const side& of) { return *driver[of.card]; }
    void make(side& of, std::uint8_t retries) {
        of.is = {on(of), on(*of.peer), {.retries = retries, .depth = depth, .size = 400'000}};
        of.open.clear();
        of.receives = 0;
    }

    void post(side& of) {
        const unsigned what = pick(5);
        const std::uint32_t length = 1 + pick(pick(2) == 0 ? 64 : 300'000);
        verbs_driver::work request;
        if (what < 2) {
            request = of.is.to(of.peer->is, of.next_id);
            request.inlined = {1, 2, 3};
        } else {
            request = of.is.rdma(what == 2 ? read : write, of.peer->is, of.next_id, length);
        }
        if (what < 2 || what == 3) request.immediate = next_immediate++;
        on(of).post(of.is.qp, request);
        of.open[of.next_id++] = request.immediate.value_or(0);
    }
    void post_receive(side& of) {
        if (of.receives == depth / 2) return;
        on(of).post_receive(of.is.qp, 0, {{of.is.key, test::efa_va, 64}});
        ++of.receives;
    }
    void take_completions() {
        for (side& of : sides) {
            while (const auto done = on(of).poll(of.is.cq)) {
                if (done->is_receive()) {
                    --of.receives;
                    const bool arrived = done->status != flushed;
                    EXPECT_TRUE(!arrived || received.insert(done->immediate).second);
                    continue;
                }
                const auto request = of.open.find(done->request_id);
                ASSERT_NE(request, of.open.end()) << done->request_id;
                if (done->status == 0 && request->second != 0) sent.insert(request->second);
                of.open.erase(request);
            }
        }
    }
    void restart(side& of) {
        EXPECT_EQ(on(of).modify(of.is.qp.handle, 0).status, 0);
        take_completions();
        of.open.clear();
        of.receives = 0;
        of.is.qp.posted = of.is.qp.receives_posted = 0;
        on(of).to_rts(of.is.qp, test::efa_qkey);
    }
    void reset(unsigned card) {
        was_reset = true;
        driver[card]->start();
        for (side& each : sides)
            if (each.card == card) make(each, 7);
    }
    void replace_address_handle(side& of) {
        EXPECT_EQ(on(of).execute(admin(6).put(4, of.is.ah).put(6, of.is.pd)).status, 0);
        of.is.ah = on(of).create_ah(of.is.pd, on(*of.peer).gid());
    }
    void lose(unsigned ppm) { net.inject("loss", {{"ppm", std::to_string(ppm)}}); }
    void set_ports(const char* fault) {
        for (unsigned i = 0; i < cards; ++i) net.inject(fault, {{"port", std::to_string(i)}});
    }
    void act() {
        side& of = sides[pick(2 * pairs)];
        const unsigned what = pick(100);
        if (what < 60) {
            for (unsigned n = 1 + pick(6); n > 0 && of.open.size() < depth; --n) post(of);
        } else if (what < 75) {
            for (unsigned n = pick(8); n > 0; --n) post_receive(of);
        } else if (what < 79) {
            lose(std::array{0u, 20'000u, 300'000u}[pick(3)]);
        } else if (what < 81) {
            net.inject("port_down", {{"port", std::to_string(of.card)}});
        } else if (what < 85) {
            set_ports("port_up");
        } else if (what < 87) {
            replace_address_handle(of);
        } else if (what < 88) {
            restart(of);
        } else if (what < 89) {
            EXPECT_EQ(on(of).modify(of.is.qp.handle, 6).status, 0);
            verbs_driver::run(50);
            take_completions();
            EXPECT_TRUE(of.open.empty());
            restart(of);
        } else if (what < 90) {
            reset(of.card);
        } else {
            verbs_driver::run(1 + pick(pick(2) == 0 ? 60 : 1500));
        }
        take_completions();
    }
    std::size_t open_requests() const {
        std::size_t sum = 0;
        for (const side& each : sides) sum += each.open.size();
        return sum;
    }

    std::mt19937 random{GetParam()};
    ethernet_fabric net;
    std::vector<std::unique_ptr<verbs_driver>> driver;
    std::array<side, 2 * pairs> sides;
    std::uint32_t next_immediate = 1;
    std::set<std::uint32_t> sent, received;  // immediate data
    bool was_reset = false;                  // a reset drops completions
};

TEST_P(EfaRandomWork, EveryRequestEndsAndTakesEffectOnce) {
    for (unsigned step = 0; step < 400 && !HasFatalFailure(); ++step) act();
    lose(0);
    set_ports("port_up");
    for (unsigned n = 0; n < 10'000 && open_requests() != 0 && !HasFatalFailure(); ++n) {
        for (side& each : sides) post_receive(each);
        verbs_driver::run(50);
        take_completions();
    }
    EXPECT_EQ(open_requests(), 0u);
    verbs_driver::run(1000);
    take_completions();
    for (const auto immediate : sent)
        EXPECT_TRUE(was_reset || received.contains(immediate)) << immediate;
    for (const auto& each : driver) EXPECT_EQ(each->card.sender().unacknowledged(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Seeds, EfaRandomWork, testing::Range(1u, 9u));

}  // namespace

// SPDX-License-Identifier: Apache-2.0
#include "models/cards/efa/transport/arrivals.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <random>
#include <vector>

namespace trn::efa_transport {
namespace {

srd_packet numbered(std::uint64_t number, std::uint64_t oldest, std::uint32_t connection = 1) {
    srd_packet made;
    made.type = srd_packet::kind::write;
    made.source = 3;
    made.connection = connection;
    made.sequence = number;
    made.oldest = oldest;
    return made;
}

TEST(ArrivalsTest, EachNumberTakesEffectOnceInAnyOrderWithinTheWindow) {
    arrivals of;
    std::mt19937_64 random(5);
    constexpr std::uint64_t count = 20'000;
    std::vector<unsigned> effects(count);
    std::uint64_t oldest = 0;
    while (oldest < count) {
        const std::uint64_t end = std::min(count, oldest + connection::max_span);
        const std::uint64_t number = oldest + random() % (end - oldest);
        auto packet = numbered(number, oldest);
        const auto state = of.check(packet);
        ASSERT_EQ(state == arrivals::state::fresh, effects[number] == 0) << number;
        if (state == arrivals::state::fresh) {
            ++effects[number];
            of.add(packet, number % 7 == 0 ? status::remote_abort : status::ok);
        } else {
            ASSERT_EQ(state, arrivals::state::repeated);
            ASSERT_EQ(of.result(packet), number % 7 == 0 ? status::remote_abort : status::ok);
        }
        if (random() % 4 == 0 || effects[oldest] != 0)
            for (; oldest < count && effects[oldest] != 0; ++oldest) {
            }
        if (effects[oldest % count] == 0 && random() % 64 == 0) {  // the oldest comes at last
            auto late = numbered(oldest, oldest);
            ASSERT_EQ(of.check(late), arrivals::state::fresh);
            of.add(late, status::ok);
            effects[oldest] = 1;
            if (oldest % 7 == 0) of.add(late, status::remote_abort);
        }
    }
    for (const unsigned each : effects) EXPECT_EQ(each, 1u);
}

TEST(ArrivalsTest, NumbersBelowTheOldestAndEarlierConnectionsAreOver) {
    arrivals of;
    auto packet = numbered(9, 8, 5);
    EXPECT_EQ(of.check(packet), arrivals::state::fresh);
    of.add(packet, status::ok);
    auto answered = numbered(7, 7, 5), earlier = numbered(20, 0, 4), next = numbered(9, 0, 6);
    EXPECT_EQ(of.check(answered), arrivals::state::over);
    EXPECT_EQ(of.check(earlier), arrivals::state::over);
    EXPECT_EQ(of.check(packet), arrivals::state::repeated);
    EXPECT_EQ(of.check(next), arrivals::state::fresh);
    EXPECT_EQ(of.check(packet), arrivals::state::over);
    auto far = numbered(connection::max_span, 0, 6);
    EXPECT_EQ(of.check(far), arrivals::state::over) << "beyond the window";
}

TEST(ArrivalsTest, TrainsKeepOnlyTheirFreshPackets) {
    arrivals of;
    auto third = numbered(2, 0);
    EXPECT_EQ(of.check(third), arrivals::state::fresh);
    of.add(third, status::ok);
    auto train = numbered(0, 0);
    train.train = 4;
    EXPECT_EQ(of.check(train), arrivals::state::fresh);
    EXPECT_EQ(train.lost, 1u << 2);
    of.add(train, status::ok);
    train.lost = 0;
    EXPECT_EQ(of.check(train), arrivals::state::over);
}

TEST(ArrivalsTest, WriteWithImmediateDataCompletesAtItsLastPacketInAnyOrder) {
    arrivals of;
    const auto packet = [](std::uint64_t number, std::uint64_t message) {
        auto made = numbered(number, 0);
        made.has_immediate = true;
        made.packets = 3;
        made.message = message;
        made.slot = 1;
        return made;
    };
    auto first = packet(0, 10), second = packet(5, 11), third = packet(4, 11), last = packet(3, 11);
    EXPECT_EQ(of.check(first), arrivals::state::fresh);
    of.count(first);  // its sender has ended it: a later one has its slot
    for (auto* const each : {&second, &third}) {
        EXPECT_EQ(of.check(*each), arrivals::state::fresh);
        EXPECT_FALSE(of.completes(*each));
        of.count(*each);
    }
    auto stale = packet(1, 10);
    EXPECT_EQ(of.check(stale), arrivals::state::over);
    EXPECT_EQ(of.check(last), arrivals::state::fresh);
    EXPECT_TRUE(of.completes(last));
}

}  // namespace
}  // namespace trn::efa_transport

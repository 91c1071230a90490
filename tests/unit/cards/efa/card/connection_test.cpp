// SPDX-License-Identifier: Apache-2.0
#include "models/cards/efa/transport/connection.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <systemc>

namespace trn::efa_transport {
namespace {

struct ConnectionTest : testing::Test {
    static sc_core::sc_time us(double count) { return {count, sc_core::SC_US}; }
    static sc_core::sc_time now() { return sc_core::sc_time_stamp(); }
    static void run(double microseconds) { sc_core::sc_start(us(microseconds)); }
    /// Sends packets of message 1, and returns the number of the first.
    std::uint64_t send(std::uint32_t count) { return link.send({1, 0}, count, now()); }
    connection::silence expire() {
        return link.expire([this](const connection::packet_name&) { ++lost; });
    }
    void answer(std::uint64_t number, const sc_core::sc_time& sent) {
        link.finish(number, sent);
        link.answered(sent, 1);
    }

    connection link{{.initial = 16, .window = 64}, 1};
    unsigned lost = 0;
};

TEST_F(ConnectionTest, AnswersToRepeatedPacketsAreSamplesOfTheRoundTrip) {
    const auto number = send(1);
    run(100);
    EXPECT_EQ(expire(), connection::silence::noticed);
    EXPECT_EQ(link.next_lost(), number);
    link.repeat(now());
    const auto sent = now();
    run(150);
    answer(number, sent);
    send(1);
    EXPECT_EQ(link.deadline(), now() + us(150 + 4 * 75));
}

TEST_F(ConnectionTest, TimeoutsDoubleUntilAnAnswerArrives) {
    const auto number = send(1);
    for (const double pause : {100, 200, 400}) {
        EXPECT_EQ(link.deadline(), now() + us(pause));
        run(pause);
        EXPECT_EQ(expire(), connection::silence::noticed);
        EXPECT_EQ(link.next_lost(), number);
        link.repeat(now());
    }
    EXPECT_EQ(link.timeouts(), 3u);
    answer(number, now());
    EXPECT_EQ(link.timeouts(), 0u);
}

TEST_F(ConnectionTest, PacketsAreLostWithoutSilenceIfLaterOnesAreAnswered) {
    const auto first = send(4);
    run(1);
    const auto next = send(4);
    const auto sent = now();
    run(30);
    for (std::uint64_t n = next; n < next + 4; ++n) answer(n, sent);
    const double window = link.window();
    run(69);
    EXPECT_EQ(expire(), connection::silence::none);
    EXPECT_EQ(lost, 4u);
    EXPECT_EQ(link.next_lost(), first);
    EXPECT_EQ(link.window(), window);
}

TEST_F(ConnectionTest, LateAnswerBringsLaterPacketsBackIntoFlight) {
    const auto sent = now();
    const auto first = send(8);
    run(100);
    expire();
    EXPECT_EQ(lost, 8u);
    EXPECT_EQ(link.next_lost(), first);
    EXPECT_EQ(link.window(), 1);
    run(50);
    answer(first, sent);
    EXPECT_FALSE(link.next_lost());
    EXPECT_EQ(expire(), connection::silence::none);
    EXPECT_EQ(lost, 8u);
    for (std::uint64_t n = first + 1; n < first + 8; ++n) answer(n, sent);
    EXPECT_EQ(link.oldest(), first + 8);
    EXPECT_FALSE(link.deadline());
}

TEST_F(ConnectionTest, WindowGrowsWithShortRoundTripsAndShrinksWithLongOnes) {
    const auto round = [this](double round_trip) {
        const auto sent = now();
        const auto number = send(1);
        run(round_trip);
        answer(number, sent);
    };
    for (unsigned n = 0; n < 20; ++n) round(30);
    EXPECT_EQ(link.window(), 36);
    for (unsigned n = 0; n < 40; ++n) round(90);
    EXPECT_LT(link.window(), 10);
    EXPECT_GE(link.window(), 1);
    const double congested = link.window();
    for (unsigned n = 0; n < 20; ++n) round(30);
    EXPECT_GT(link.window(), congested);
    EXPECT_LE(link.window(), congested + 20);
}

TEST_F(ConnectionTest, NumbersInFlightAreBoundedByWhatTheReceiverRecords) {
    connection wide{{.initial = 10'000, .window = 10'000}, 1};
    EXPECT_EQ(wide.room(), connection::max_span);
    wide.send({1, 0}, 4000, now());
    wide.finish(1);
    EXPECT_EQ(wide.room(), connection::max_span - 4000) << "number 0 is not answered";
    wide.finish(0);
    EXPECT_EQ(wide.room(), connection::max_span - 3998);
}

}  // namespace
}  // namespace trn::efa_transport

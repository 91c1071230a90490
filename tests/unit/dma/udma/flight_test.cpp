// SPDX-License-Identifier: Apache-2.0
#include "models/dma/udma/movers/flight.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <random>

namespace {

using namespace trn;

dma_transfer numbered(std::uint64_t number) {
    dma_transfer t;
    t.source = number;
    return t;
}

TEST(DmaFlightTest, TransfersLeaveInTheOrderInWhichTheyCame) {
    std::mt19937 random(1);
    dma_flight flight;
    std::deque<std::uint64_t> expected;
    for (std::uint64_t number = 0; number < 10'000; ++number) {
        // Fills and drains repeatedly, with different numbers of transfers.
        if (expected.empty() || random() % 64 < 32 + number / 8 % 2 * 8) {
            flight.push_back(numbered(number));
            expected.push_back(number);
        } else {
            flight.has_moved();
            flight.pop_front();
            expected.pop_front();
        }
        ASSERT_EQ(flight.empty(), expected.empty());
        ASSERT_EQ(flight.size(), expected.size());
        ASSERT_TRUE(
            std::ranges::equal(flight.all(), expected, {}, [](const auto& t) { return t.source; }));
        if (expected.empty()) continue;
        ASSERT_EQ(flight.front().source, expected.front());
        ASSERT_EQ(flight.back().source, expected.back());
    }
}

TEST(DmaFlightTest, AStreamReusesAFewPlaces) {
    dma_flight flight;
    std::uintptr_t first = ~std::uintptr_t{0}, last = 0;
    for (std::uint64_t number = 0; number < 10'000; ++number) {
        flight.push_back(numbered(number));
        if (flight.size() <= 3) continue;
        if (number > 100) {  // the memory has its final size
            const auto place = reinterpret_cast<std::uintptr_t>(&flight.back());
            first = std::min(first, place);
            last = std::max(last, place);
        }
        flight.has_moved();
        flight.pop_front();
    }
    EXPECT_LT((last - first) / sizeof(dma_transfer), 16u);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/tlm/server_memory.h"

#include <gtest/gtest.h>

namespace {

using trn::server_memory;
constexpr std::uint64_t mib = 1 << 20;

TEST(ServerMemoryTest, AllOfItCanBeAllocatedAgain) {
    server_memory ram(64 * mib);
    const auto first = ram.allocate(40 * mib), second = ram.allocate(24 * mib);
    ASSERT_TRUE(first && second);
    EXPECT_FALSE(ram.allocate(1));
    ram.data()[5] = 7;
    ram.free(*first, 40 * mib);
    ram.free(*second, 24 * mib);
    ASSERT_EQ(ram.allocate(64 * mib), 0u);
    EXPECT_EQ(ram.data()[5], 0);
}

TEST(ServerMemoryTest, MemoryIsFreedOnce) {
    server_memory ram(64 * mib);
    const auto a = ram.allocate(mib), b = ram.allocate(mib), c = ram.allocate(mib);
    ASSERT_TRUE(a && b && c);
    ram.free(*a, mib);
    ram.free(*b, mib);
    ram.free(*b, mib);
    ram.free(*c + 4096, mib);  // not an address that allocate() has returned
    ram.free(*c, 2 * mib);
    ram.free(*c, ~std::uint64_t{0});
    const auto both = ram.allocate(2 * mib), other = ram.allocate(mib);
    EXPECT_EQ(both, 0u);
    EXPECT_EQ(other, 3 * mib);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "models/neuron_core/engine_checks/sram_content.h"

namespace {

using trn::sram_content;

class SramContent : public testing::Test {
protected:
    std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(4 * sram_content::page_bytes);
    sram_content content{bytes.data(), bytes.size()};

    void write(std::uint64_t first, std::uint64_t count, std::uint8_t value) {
        std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(first), count, value);
        content.written(first, count);
    }
};

TEST_F(SramContent, IsUntouchedWithoutReads) {
    write(100, 8, 7);
    EXPECT_EQ(std::ranges::count(bytes, 0), static_cast<std::ptrdiff_t>(bytes.size()) - 8);
}

TEST_F(SramContent, UnwrittenBytesOfAPageArePoisonedAtItsFirstWrite) {
    content.poison();
    write(4096 + 32, 16, 0);
    EXPECT_FALSE(content.has_unwritten(4096 + 32, 16));
    EXPECT_TRUE(content.has_unwritten(4096 + 32, 17));
    EXPECT_TRUE(content.has_unwritten(4096, 32));
    EXPECT_EQ(bytes[0], 0);  // on another page
}

TEST_F(SramContent, APageWrittenBeforeCountsAsWritten) {
    write(8192, 4, 0);
    content.poison();
    EXPECT_FALSE(content.has_unwritten(8192, 4096));
}

TEST_F(SramContent, WritesAcrossPagesPoisonBothRests) {
    content.poison();
    write(4096 - 16, 32, 9);
    EXPECT_FALSE(content.has_unwritten(4096 - 16, 32));
    EXPECT_TRUE(content.has_unwritten(4096 - 32, 16));
    EXPECT_TRUE(content.has_unwritten(4096 + 16, 16));
}

TEST_F(SramContent, RangesOutsideTheMemoryAreIgnored) {
    content.poison();
    content.written(bytes.size(), 100);
    content.written(bytes.size() - 1, ~std::uint64_t{0});
    EXPECT_TRUE(content.has_unwritten(bytes.size() - 32, 16));
}

TEST_F(SramContent, AllOnesAreData) {
    content.poison();
    write(0, 64, 0xff);
    write(64, 64, 0x7f);
    EXPECT_FALSE(content.has_unwritten(0, 128));
}

}  // namespace

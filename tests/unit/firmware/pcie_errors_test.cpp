// SPDX-License-Identifier: Apache-2.0
// What a server's boot ROM sets in root ports and switch ports.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

extern "C" {
#include "firmware/host/pcie_errors.h"
}

namespace {

constexpr std::uint32_t type_0 = 0, type_1 = 1u << 16, more_functions = 1u << 23, serr = 1u << 8;

/// Configuration space of nine buses, as memory.
class PcieErrors : public testing::Test {
protected:
    std::uint32_t& word(unsigned bus, unsigned device, unsigned function, unsigned offset) {
        return words_[((bus << 20) + (device << 15) + (function << 12) + offset) / 4];
    }
    void add(unsigned bus, unsigned device, unsigned function, std::uint32_t header,
             std::uint32_t command = 0) {
        word(bus, device, function, 0x00) = 0x0001'1d0f;
        word(bus, device, function, 0x04) = command;
        word(bus, device, function, 0x0c) = header;
        word(bus, device, function, 0x18) = 0;
    }
    void forward() { pcie_errors_forward(reinterpret_cast<std::uintptr_t>(words_.data())); }
    std::uint32_t command(unsigned bus, unsigned device, unsigned function = 0) {
        return word(bus, device, function, 0x04);
    }

private:
    std::vector<std::uint32_t> words_ = std::vector<std::uint32_t>((9u << 20) / 4, ~0u);
};

TEST_F(PcieErrors, AreForwardedByPortsOfAllLevels) {
    constexpr std::uint32_t status = 0xf000'0000, memory = 2;
    add(0, 0, 0, type_1);
    add(0, 3, 0, type_1 | more_functions, status | memory);
    add(0, 3, 5, type_1);
    add(1, 0, 0, type_1);
    add(2, 9, 0, type_0);
    add(2, 31, 0, type_1);
    forward();
    EXPECT_EQ(command(0, 0), serr);
    EXPECT_EQ(command(0, 3), memory | serr);  // no bit of the status is cleared
    EXPECT_EQ(command(0, 3, 5), serr);
    EXPECT_EQ(command(1, 0), serr);
    EXPECT_EQ(command(2, 9), 0);
    EXPECT_EQ(command(2, 31), serr);
}

TEST_F(PcieErrors, LeaveNoBusNumbers) {
    add(0, 0, 0, type_1);
    add(1, 0, 0, type_1);
    forward();
    EXPECT_EQ(word(0, 0, 0, 0x18), 0);
    EXPECT_EQ(word(1, 0, 0, 0x18), 0);
}

TEST_F(PcieErrors, OfAbsentFunctionsAreNotTouched) {
    add(0, 4, 0, type_0);
    add(0, 4, 1, type_1);  // is not there: function 0 has no others
    forward();
    EXPECT_EQ(command(0, 0), ~0u);
    EXPECT_EQ(command(0, 4, 1), 0);
}

TEST_F(PcieErrors, BridgesWithoutEndAreLeftAtTheEighthLevel) {
    for (unsigned bus = 0; bus < 9; ++bus) add(bus, 0, 0, type_1);
    forward();
    EXPECT_EQ(command(7, 0), serr);
    EXPECT_EQ(command(8, 0), 0);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
#include "models/pcie/pcie/msix_table.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

namespace trn::pcie {
namespace {

/// A message to another function may make it send one to this function's table.
TEST(MsixTable, MessageThatWritesToItsTableIsSentOnce) {
    unsigned sent = 0;
    constexpr std::array<std::uint8_t, 4> zeros{};
    msix_table* back = nullptr;
    msix_table table(2, [&](std::uint64_t, std::uint32_t) {
        if (++sent < 100) back->write(12, zeros);
        return true;
    });
    back = &table;
    table.control(true, false);
    table.write(12, zeros);
    table.raise(0);
    EXPECT_EQ(sent, 1u);
}

}  // namespace
}  // namespace trn::pcie

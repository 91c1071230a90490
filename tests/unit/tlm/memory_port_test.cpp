// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/tlm/memory_port.h"

#include <gtest/gtest.h>
#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "platform/framework/tlm/refuse_pointer.h"
#include "tests/support/tlm_driver.h"

namespace {

using namespace trn;

constexpr std::uint64_t piece = 4096, pieces = 4096;

/// Grants pointers to pieces: odd-numbered pieces are read-only, the last is refused.
struct memory_in_pieces : sc_core::sc_module {
    tlm_utils::simple_target_socket<memory_in_pieces, 64> in{"in"};
    std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(pieces * piece);
    unsigned questions = 0;

    explicit memory_in_pieces(sc_core::sc_module_name name) : sc_module(name) {
        in.register_get_direct_mem_ptr(this, &memory_in_pieces::grant);
    }

private:
    bool grant(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
        ++questions;
        const std::uint64_t number = payload.get_address() / piece;
        if (number == pieces - 1) return refuse_pointer(payload, dmi);
        dmi.set_dmi_ptr(bytes.data() + number * piece);
        dmi.set_start_address(number * piece);
        dmi.set_end_address((number + 1) * piece - 1);
        if (number % 2 == 0)
            dmi.allow_read_write();
        else
            dmi.allow_read();
        return true;
    }
};

struct MemoryPort : testing::Test {
    test::tlm_driver initiator{"initiator"};
    memory_in_pieces memory{"memory"};
    memory_port port{initiator.out};

    MemoryPort() {
        initiator.out.bind(memory.in);
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
    }

    /// Checks that the byte at `address` through its window is the memory's.
    bool finds(tlm::tlm_command command, std::uint64_t address) {
        const auto* found = port.find(command, address);
        const std::uint64_t number = address / piece;
        if (found == nullptr) return false;
        EXPECT_EQ(found->first, number * piece);
        EXPECT_EQ(found->at(address), memory.bytes.data() + address);
        EXPECT_EQ(found->room(address, ~0ull), piece - address % piece);
        return true;
    }
};

TEST_F(MemoryPort, FindsEachWindowInAnyRequestOrder) {
    std::vector<std::uint64_t> order(500);
    std::generate(order.begin(), order.end(), [n = 0ull]() mutable { return n++ * 3 * piece + 5; });
    std::ranges::shuffle(order, std::mt19937(1));
    for (const auto address : order) EXPECT_TRUE(finds(tlm::TLM_READ_COMMAND, address));
    EXPECT_EQ(port.windows(), order.size());
    const unsigned asked = memory.questions;
    for (const auto address : order) EXPECT_TRUE(finds(tlm::TLM_READ_COMMAND, address));
    EXPECT_EQ(memory.questions, asked);
    EXPECT_EQ(port.known(tlm::TLM_READ_COMMAND, piece), nullptr);  // between two pieces
}

TEST_F(MemoryPort, ReadOnlyWindowIsNotUsedForWrites) {
    EXPECT_TRUE(finds(tlm::TLM_READ_COMMAND, piece));
    EXPECT_FALSE(finds(tlm::TLM_WRITE_COMMAND, piece));
    EXPECT_TRUE(finds(tlm::TLM_WRITE_COMMAND, 2 * piece));
    EXPECT_NE(port.known(tlm::TLM_READ_COMMAND, 2 * piece), nullptr);
    EXPECT_FALSE(finds(tlm::TLM_READ_COMMAND, (pieces - 1) * piece));
}

TEST_F(MemoryPort, KeepsABoundedNumberOfWindowsAndRequestsEvictedOnesAgain) {
    std::mt19937 random(2);
    for (unsigned n = 0; n < 20'000; ++n) {
        const std::uint64_t address = random() % ((pieces - 1) * piece);
        EXPECT_TRUE(finds(tlm::TLM_READ_COMMAND, address));
    }
    EXPECT_LE(port.windows(), 1024u);
    EXPECT_GE(port.windows(), 256u);  // the memories used by a chip of a machine of 144
}

TEST_F(MemoryPort, InvalidationDropsOnlyItsRange) {
    for (unsigned n = 0; n < 10; ++n) EXPECT_TRUE(finds(tlm::TLM_READ_COMMAND, n * piece));
    port.invalidate(3 * piece + 100, 5 * piece);
    for (unsigned n = 0; n < 10; ++n)
        EXPECT_EQ(port.known(tlm::TLM_READ_COMMAND, n * piece) != nullptr, n < 3 || n > 5) << n;
    EXPECT_TRUE(finds(tlm::TLM_READ_COMMAND, 4 * piece));
}

}  // namespace

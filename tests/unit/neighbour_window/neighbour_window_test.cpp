// SPDX-License-Identifier: Apache-2.0
#include "models/neighbour_window/neighbour_window.h"

#include <gtest/gtest.h>

#include <vector>

#include "platform/misuse/misuse.h"
#include "platform/tlm/memory.h"
#include "platform/tlm/memory_port.h"
#include "platform/tlm/router.h"
#include "tests/support/tlm_driver.h"

namespace {

using namespace trn;
using sc_core::sc_time;

constexpr std::uint64_t host_window = std::uint64_t{1} << 46;

/// A neighbour that has memory wherever one asks, so that only the window can refuse.
class NeighbourWindowTest : public testing::Test {
protected:
    NeighbourWindowTest() {
        chip.out.bind(window.in);
        alone_chip.out.bind(alone.in);
        window.out.bind(neighbour.target);
        neighbour.initiator.bind(bytes.in);
        for (const std::uint64_t base :
             {std::uint64_t{0}, host_window, std::uint64_t{1} << 47, std::uint64_t{1} << 48})
            neighbour.map({base, 1 << 20, 0, 0});
    }
    void SetUp() override { sc_core::sc_start(sc_core::SC_ZERO_TIME); }

    test::tlm_driver chip{"chip"}, alone_chip{"alone_chip"};
    neighbour_window window{"window", {}}, alone{"alone", {}};
    router neighbour{"neighbour", {}};
    memory bytes{"bytes", {.size = 1 << 20, .access_latency = sc_time(100, sc_core::SC_NS)}};
};

TEST_F(NeighbourWindowTest, ReachesBothDiesOfTheNeighbour) {
    EXPECT_EQ(chip.write<std::uint32_t>(0x100, 7), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(chip.read((std::uint64_t{1} << 47) + 0x100), 7u);
}

TEST_F(NeighbourWindowTest, DoesNotReachTheNeighboursHostOrItsWindows) {
    misuse::set_policy_of_all(misuse::policy::count);
    chip.read(host_window);
    EXPECT_EQ(chip.response, tlm::TLM_ADDRESS_ERROR_RESPONSE);
    chip.read(std::uint64_t{1} << 48);
    EXPECT_EQ(chip.response, tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(misuse::count(misuse::not_of_the_neighbour), 2u);
}

TEST_F(NeighbourWindowTest, WithoutANeighbourAnswersAnErrorAndCountsIt) {
    misuse::set_policy_of_all(misuse::policy::count);
    alone_chip.read(0x80'06C8'4038);
    EXPECT_EQ(alone_chip.response, tlm::TLM_ADDRESS_ERROR_RESPONSE);
    EXPECT_EQ(misuse::count(misuse::no_neighbour), 1u);
    memory_port port(alone_chip.out);
    EXPECT_EQ(port.find(tlm::TLM_READ_COMMAND, 0), nullptr);
}

TEST_F(NeighbourWindowTest, AReadCrossesTwiceAWriteOnce) {
    std::vector<std::uint8_t> page(4096);
    chip.read_bytes(0, page);
    // 4096 / 320 GB/s = 12.8 ns, twice 500 ns, and the memory's 100 ns
    EXPECT_NEAR(chip.delay / sc_time(1, sc_core::SC_NS), 1112.8, 0.1);
    chip.delay = sc_core::SC_ZERO_TIME;
    chip.write<std::uint32_t>(0, 1);
    EXPECT_NEAR(chip.delay / sc_time(1, sc_core::SC_NS), 600, 0.1);
}

TEST_F(NeighbourWindowTest, DirectAccessChargesTheLink) {
    memory_port port(chip.out);
    const auto* direct = port.find(tlm::TLM_READ_COMMAND, 0);
    ASSERT_NE(direct, nullptr);
    // 320 kB at 320 GB/s: 1 us for the first reader, 2 for the second.
    const auto now = sc_core::sc_time_stamp();
    direct->reserve(tlm::TLM_READ_COMMAND, 0, 320'000, now);
    const auto through = direct->reserve(tlm::TLM_READ_COMMAND, 0, 320'000, now);
    EXPECT_GE(through, now + sc_time(2, sc_core::SC_US));
    EXPECT_LT(through, now + sc_time(2100, sc_core::SC_NS));
    EXPECT_GE(direct->read_latency, sc_time(1, sc_core::SC_US));
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// The chips' address maps, compared row by row with the device contract, which describes the maps
// used by the public driver.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>
#include <memory>

#include "models/kinds.h"
#include "models/memory/hbm/hbm.h"
#include "models/neuron_core/neuron_core/neuron_core.h"
#include "models/processor/top_sp/top_sp.h"
#include "platform/framework/netlist/expansion/boards.h"
#include "platform/framework/netlist/expansion/plan_board.h"
#include "platform/framework/netlist/system.h"
#include "platform/framework/tlm/router.h"
#include "tests/integration/address_map/contract_maps.h"
#include "tests/support/tlm_driver.h"

namespace {

using namespace trn;
using namespace trn::test;

rows planned(const plan& board, const std::string& router) {
    rows list;
    for (const auto& r : address_maps(board).flattened(board.index_of(router)))
        list.push_back({r.window.base, r.window.size, board.text(r.target), r.window.target_base});
    return list;
}

class AddressMap : public testing::TestWithParam<std::size_t> {
protected:
    const contract_map contract = contract_maps()[GetParam()];
    plan board() const { return load_board(contract.board, kinds()); }
};

TEST_P(AddressMap, AxiSpaceMatchesTheContract) {
    for (const auto& router : contract.routers)
        EXPECT_EQ(planned(board(), router), contract.axi) << router;
}

TEST_P(AddressMap, RegisterBarMatchesTheContract) {
    EXPECT_EQ(planned(board(), "chip0.bar0"), contract.bar0);
}

TEST_P(AddressMap, Bar4FollowsTheRevision) {
    EXPECT_EQ(planned(board(), "chip0.bar4"), contract.bar4);
    EXPECT_EQ(planned(load_board(contract.board + "-sim", kinds()), "chip0.bar4"),
              contract.simulator_bar4);
}

TEST_P(AddressMap, HasTheOffsetsOfTheContract) {
    const auto map = planned(board(), "chip0.bar0");
    const auto at = [&](std::uint64_t offset) {
        for (const auto& r : map)
            if (offset >= r.base && offset - r.base < r.size)
                return fmt::format("{} + 0x{:x}", r.target, offset - r.base + r.target_base);
        return std::string("nothing");
    };
    for (const auto& [offset, block] : contract.spelled_out)
        EXPECT_EQ(at(offset), block) << fmt::format("0x{:x}", offset);
}

TEST_P(AddressMap, MatchesTheElaboratedRouters) {
    trn::system built(board());
    unsigned checked = 0;
    const address_maps maps(built.board());
    for (const auto index : maps.routers()) {
        const auto& decoder = dynamic_cast<router&>(built.module(index));
        const auto map = maps.own(index);
        ASSERT_EQ(decoder.ranges().size(), map.size()) << decoder.name();
        for (std::size_t i = 0; i < map.size(); ++i, ++checked) {
            EXPECT_EQ(decoder.ranges()[i].base, map[i].window.base) << decoder.name();
            EXPECT_EQ(decoder.ranges()[i].size, map[i].window.size) << decoder.name();
            EXPECT_EQ(decoder.ranges()[i].target_base, map[i].window.target_base);
        }
    }
    EXPECT_GT(checked, contract.axi.size());
}

std::string generation_name(const testing::TestParamInfo<std::size_t>& which) {
    return contract_maps()[which.param].name;
}

INSTANTIATE_TEST_SUITE_P(Of, AddressMap, testing::Values(0, 1, 2, 3), generation_name);

/// One chip without link training, so that memory is accessible before firmware runs.
class BareChip : public testing::Test {
protected:
    BareChip(const std::string& chip, const std::vector<const char*>& probed)
        : built(plan_text(board_of(chip), "bare.yaml", kinds(), {boards_folder(), {}})) {
        for (const char* name : probed) {
            auto& made = probes[name] =
                std::make_unique<test::tlm_driver>(sc_core::sc_gen_unique_name("probe"));
            made->out.bind(built.find<router>(name)->target);
        }
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
    }
    static std::string board_of(const std::string& chip) {
        return fmt::format(R"(board: bare
modules:
  host0: {{type: root_complex}}
  chip0: {{type: chips/{}, needs_training: false, boot_rom: "", firmware: ""}}
bind:
  - host0.port[0] <-> chip0.link
)",
                           chip);
    }
    /// Debug access through a target bound to a router.
    unsigned debug(const char* router_name, tlm::tlm_command command, std::uint64_t address,
                   std::uint32_t& value) {
        tlm::tlm_generic_payload payload;
        payload.set_command(command);
        payload.set_address(address);
        payload.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
        payload.set_data_length(sizeof value);
        payload.set_streaming_width(sizeof value);
        return probes.at(router_name)->out->transport_dbg(payload);
    }
    void poke(const char* router_name, std::uint64_t address, std::uint32_t value) {
        EXPECT_EQ(debug(router_name, tlm::TLM_WRITE_COMMAND, address, value), 4u)
            << router_name << fmt::format(" 0x{:x}", address);
    }
    std::uint32_t peek(const char* router_name, std::uint64_t address) {
        std::uint32_t value = 0;
        EXPECT_EQ(debug(router_name, tlm::TLM_READ_COMMAND, address, value), 4u)
            << router_name << fmt::format(" 0x{:x}", address);
        return value;
    }
    trn::system built;
    std::map<std::string, std::unique_ptr<test::tlm_driver>> probes;  // one initiator per router
};

struct Chip : BareChip {
    Chip()
        : BareChip("trainium3", {"chip0.axi0", "chip0.axi1", "chip0.bar0", "chip0.bar4",
                                 "chip0.management.local"}) {}
};

TEST_F(Chip, Bar4AndBothDiesReachTheSameStackBytes) {
    for (unsigned n = 0; n < 4; ++n) {
        const std::uint64_t axi_base = n / 2 * die_bit + n % 2 * 0x40'0000'0000;
        const std::uint64_t last = 36_GiB - 4;
        poke("chip0.bar4", n * 64_GiB + last, 0x1111'0000 + n);
        EXPECT_EQ(peek("chip0.axi0", axi_base + last), 0x1111'0000 + n);
        EXPECT_EQ(peek("chip0.axi1", axi_base + last), 0x1111'0000 + n);
        EXPECT_EQ(built.find<hbm>(fmt::format("chip0.hbm{}", n))->bytes().data()[last], n);
    }
    std::uint32_t value = 0;
    EXPECT_EQ(debug("chip0.bar4", tlm::TLM_READ_COMMAND, 36_GiB, value), 0u);
}

TEST_F(Chip, ManagementProcessorReachesTheAxiSpaceAtBit55) {
    poke("chip0.management.local", (1ull << 55) + 0x8040'0000'1000, 0xabcd);
    EXPECT_EQ(peek("chip0.bar4", 3 * 64_GiB + 0x1000), 0xabcdu);
}

TEST_F(Chip, Bar0ReachesSemaphoresAndStateOfEveryCore) {
    for (unsigned n = 0; n < 8; ++n) {
        const std::string name = fmt::format("chip0.nc{}", n);
        built.find<neuron_core>(name)->sync().set(n, static_cast<std::int32_t>(100 + n));
        built.find<neuron_core>(name)->sbuf().data()[8] = static_cast<std::uint8_t>(n + 1);
        const std::uint64_t base = 0xd000'0000 + n * 64_MiB;
        EXPECT_EQ(peek("chip0.bar0", base + 0x270'1000 + 4 * n), 100 + n);
        EXPECT_EQ(peek("chip0.bar0", base + 8), n + 1);
    }
    for (unsigned n = 0; n < 20; ++n) {
        built.find<top_sp>(fmt::format("chip0.top_sp{}", n))->sync().set(3, 7);
        EXPECT_EQ(
            peek("chip0.bar0", (n < 10 ? 0xf000'0000 : 0xf280'0000) + n % 10 * 4_MiB + 0x100c), 7u);
    }
}

TEST_F(Chip, UnmappedAddressesAnswerAddressErrors) {
    std::uint32_t value = 0;
    for (const std::uint64_t address :
         {0x9'0000'0000ull, 0x80'0000'0000ull, 0x1'0000'0000'0000ull, 0xc000'0000'0000ull,
          0x10'0000'0000'0000ull /* a neighbour */, ~0ull - 3})
        for (const char* die : {"chip0.axi0", "chip0.axi1"})
            EXPECT_EQ(debug(die, tlm::TLM_READ_COMMAND, address, value), 0u)
                << die << fmt::format(" 0x{:x}", address);
}

struct OneDieChip : BareChip {
    OneDieChip()
        : BareChip("trainium1",
                   {"chip0.axi", "chip0.bar0", "chip0.bar4", "chip0.management.local"}) {}
};

TEST_F(OneDieChip, Bar4ReachesBothStacks) {
    for (unsigned n = 0; n < 2; ++n) {
        poke("chip0.bar4", n * 16_GiB + 16_GiB - 4, 0x2222'0000 + n);
        EXPECT_EQ(peek("chip0.axi", n * 0x10'0000'0000 + 16_GiB - 4), 0x2222'0000 + n);
    }
    std::uint32_t value = 0;
    EXPECT_EQ(debug("chip0.bar4", tlm::TLM_READ_COMMAND, 32_GiB, value), 0u);
}

TEST_F(OneDieChip, Bar0ReachesCoresTopSpsAndSeparateSdmaBlocks) {
    for (unsigned n = 0; n < 2; ++n) {
        built.find<neuron_core>(fmt::format("chip0.nc{}", n))
            ->sync()
            .set(5, 50 + static_cast<int>(n));
        EXPECT_EQ(peek("chip0.bar0", n * 64_MiB + 0x270'1014), 50 + n);
    }
    for (unsigned n = 0; n < 6; ++n) {
        built.find<top_sp>(fmt::format("chip0.top_sp{}", n))->sync().set(3, 7);
        EXPECT_EQ(peek("chip0.bar0", 0x1000'0000 + n * 4_MiB + 0x100c), 7u);
        poke("chip0.bar0", 0x30e0'4000 + n * 0x4'0000 + 0x100, 0x100 * n);  // base of slot 0
        EXPECT_EQ(peek("chip0.axi", 0xfff'f0e0'4100 + n * 0x4'0000), 0x100 * n);
    }
    // Read reorder of engine 17, its notification slot 1, and engine 33's write reorder.
    poke("chip0.bar0", 0x30b0'7000 + 0x1c, 1);
    EXPECT_EQ(peek("chip0.axi", 0xfff'f0b0'701c), 1u);
    poke("chip0.bar0", 0x30b0'7000 + 0x1000 + 0x128, 0x4000);
    EXPECT_EQ(peek("chip0.axi", 0xfff'f0b0'8128), 0x4000u);
    poke("chip0.bar0", 0x30d4'0020, 1);
    EXPECT_EQ(peek("chip0.axi", 0xfff'f0d4'0020), 1u);
    EXPECT_EQ(peek("chip0.axi", 0xfff'f064'0020), 0u) << "engine 32 has its own";
}

TEST_F(OneDieChip, UnmappedAddressesAnswerAddressErrors) {
    std::uint32_t value = 0;
    for (const std::uint64_t address :
         {0x4'0000'0000ull, 0x80'0000'0000ull, 0xfff'c800'0000ull, 0xfff'f047'0000ull,
          0xfff'f0b0'7000ull + 0x2000, 0x2000'0000'0000ull, 0x4000'0000'0000ull})
        EXPECT_EQ(debug("chip0.axi", tlm::TLM_READ_COMMAND, address, value), 0u)
            << fmt::format("0x{:x}", address);
}

}  // namespace

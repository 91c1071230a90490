// SPDX-License-Identifier: Apache-2.0
// The chip's maps, row by row as device contract sections 3.1 to 3.4 have them: what the public
// driver was written against.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <array>
#include <map>
#include <memory>

#include "models/hbm/hbm.h"
#include "models/kinds.h"
#include "models/neuron_core/neuron_core.h"
#include "models/top_sp/top_sp.h"
#include "platform/netlist/boards.h"
#include "platform/netlist/system.h"
#include "platform/tlm/router.h"
#include "tests/support/tlm_driver.h"

namespace {

using namespace trn;

constexpr std::uint64_t operator""_KiB(unsigned long long n) {
    return n << 10;
}
constexpr std::uint64_t operator""_MiB(unsigned long long n) {
    return n << 20;
}
constexpr std::uint64_t operator""_GiB(unsigned long long n) {
    return n << 30;
}
constexpr std::uint64_t operator""_TiB(unsigned long long n) {
    return n << 40;
}

struct row {
    std::uint64_t base;
    std::uint64_t size;
    std::string target;
    std::uint64_t target_base = 0;
    friend bool operator==(const row&, const row&) = default;
    friend bool operator<(const row& a, const row& b) { return a.base < b.base; }
    friend void PrintTo(const row& r, std::ostream* out) {
        *out << fmt::format("0x{:x} + 0x{:x} -> {} + 0x{:x}", r.base, r.size, r.target,
                            r.target_base);
    }
};
using rows = std::vector<row>;

rows sorted(rows list) {
    std::sort(list.begin(), list.end());
    return list;
}

constexpr std::uint64_t die_bit = 1ull << 47;

/// Contract 3.1 and the register blocks of 3.2, of one die.
rows axi_of_die(unsigned die) {
    const std::uint64_t base = die * die_bit;
    const auto numbered = [](const char* format, unsigned n) {
        return fmt::format(fmt::runtime(format), n);
    };
    rows list;
    for (unsigned k = 0; k < 2; ++k) {
        const unsigned seng = die * 2 + k;
        const std::uint64_t half = base + k * 0x40'0000'0000;
        list.push_back({half, 36_GiB, numbered("chip0.hbm{}.in", seng)});
        list.push_back({half + 0x10'0000'0000 + (k == 0 ? 0x200'0000 : 0x400'0000), 32_MiB,
                        numbered("chip0.udma{}.registers", seng)});
        list.push_back({half + 0x10'0000'0000 + (k == 0 ? 0xc00'0000 : 0xc40'0000), 4_MiB,
                        numbered("chip0.fis{}.registers", seng)});
        list.push_back({half + 0x12'0000'0000, 0x34c'0000, numbered("chip0.preproc{}.in", seng)});
        for (unsigned n = 0; n < 2; ++n)
            list.push_back({half + 0x20'0000'0000 + n * 0x10'0000'0000, 64_MiB,
                            numbered("chip0.nc{}.aperture", seng * 2 + n)});
    }
    const std::uint64_t io = base + 0x80'0000'0000;
    for (unsigned n = 0; n < 4; ++n)
        list.push_back({io + std::array{0x600'0000, 0x618'0000, 0x640'0000, 0x658'0000}[n],
                        0x18'0000, numbered("chip0.nc{}.top", die * 4 + n)});
    list.push_back({io + 0x680'0000, 2_MiB, numbered("chip0.h2t{}.registers", die)});
    for (unsigned n = 0; n < 10; ++n) {
        list.push_back({io + 0x6a0'0000 + n * 0x4'0000ull, 256_KiB,
                        numbered("chip0.top_sp{}.registers", die * 10 + n)});
        list.push_back({base + 0x82'8000'0000 + n * 0x4000'0000ull, 4_MiB,
                        numbered("chip0.top_sp{}.aperture", die * 10 + n)});
    }
    if (die == 0) {
        list.push_back({io + 0x630'0000, 4_KiB, "chip0.management.sim_reset.host"});
        list.push_back({io + 0x6c8'4000, 4_KiB, "chip0.management.misc_ram.in"});
    }
    return list;
}

rows axi() {
    auto list = axi_of_die(0);
    const auto other = axi_of_die(1);
    list.insert(list.end(), other.begin(), other.end());
    list.push_back({0x4000'0000'0000, 64_TiB, "chip0.pcie.dma"});
    for (unsigned seng = 0; seng < 4; ++seng)
        list.push_back({0x10'0000'0000'0000 + seng * 1024_TiB, 1024_TiB,
                        fmt::format("chip0.window{}.in", seng)});
    return sorted(list);
}

/// What a window of `size` bytes at `bar` shows of the AXI space at `axi_base`.
void show(rows& list, std::uint64_t bar, std::uint64_t size, std::uint64_t axi_base) {
    for (const auto& r : axi()) {
        const auto first = std::max(r.base, axi_base);
        const auto end = std::min(r.base + r.size, axi_base + size);
        if (first < end)
            list.push_back({bar + (first - axi_base), end - first, r.target, first - r.base});
    }
}

/// Contract 3.2.
rows bar0() {
    rows list;
    show(list, 0x0000'0000, 512_MiB, 0x0080'0000'0000);
    show(list, 0x4000'0000, 512_MiB, 0x8080'0000'0000);
    show(list, 0x8000'0000, 256_MiB, 0x0010'0000'0000);
    show(list, 0x9000'0000, 256_MiB, 0x0050'0000'0000);
    show(list, 0xa000'0000, 256_MiB, 0x8010'0000'0000);
    show(list, 0xb000'0000, 256_MiB, 0x8050'0000'0000);
    for (unsigned nc = 0; nc < 8; ++nc)
        show(list, 0xd000'0000 + nc * 64_MiB, 64_MiB,
             nc / 4 * die_bit + (std::array{0x20ull, 0x30ull, 0x60ull, 0x70ull}[nc % 4] << 32));
    for (unsigned n = 0; n < 10; ++n) {
        show(list, 0xf000'0000 + n * 4_MiB, 4_MiB, 0x0082'8000'0000 + n * 1_GiB);
        show(list, 0xf280'0000 + n * 4_MiB, 4_MiB, 0x8082'8000'0000 + n * 1_GiB);
    }
    return sorted(list);
}

/// Contract 3.4.
rows bar4(std::uint64_t slice, std::uint64_t shown) {
    rows list;
    for (unsigned n = 0; n < 4; ++n)
        list.push_back({n * slice, shown, fmt::format("chip0.hbm{}.in", n)});
    return list;
}

rows planned(const plan& board, const char* router) {
    rows list;
    for (const auto& r : flattened_map(board, board.index_of(router)))
        list.push_back({r.window.base, r.window.size, board.text(r.target), r.window.target_base});
    return list;
}

TEST(AddressMap, OfTheAxiSpaceIsTheContracts) {
    const auto board = load_board("trn3-chip", kinds());
    EXPECT_EQ(planned(board, "chip0.axi0"), axi());
    EXPECT_EQ(planned(board, "chip0.axi1"), axi()) << "both dies see one space";
}

TEST(AddressMap, OfBar0IsTheContracts) {
    const auto board = load_board("trn3-chip", kinds());
    EXPECT_EQ(planned(board, "chip0.bar0"), bar0());
}

TEST(AddressMap, OfBar4FollowsTheRevision) {
    EXPECT_EQ(planned(load_board("trn3-chip", kinds()), "chip0.bar4"), bar4(64_GiB, 36_GiB));
    EXPECT_EQ(planned(load_board("trn3-chip-sim", kinds()), "chip0.bar4"), bar4(4_GiB, 4_GiB));
}

/// The offsets that the contract spells out, as a check of this file's own arithmetic.
TEST(AddressMap, HasTheOffsetsThatTheContractSpellsOut) {
    const auto board = load_board("trn3-chip", kinds());
    const auto at = [&](std::uint64_t offset) {
        for (const auto& r : planned(board, "chip0.bar0"))
            if (offset >= r.base && offset - r.base < r.size)
                return fmt::format("{} + 0x{:x}", r.target, offset - r.base + r.target_base);
        return std::string("nothing");
    };
    EXPECT_EQ(at(0x0600'1000), "chip0.nc0.top + 0x1000");
    EXPECT_EQ(at(0x062c'1000), "chip0.nc1.top + 0x141000");
    EXPECT_EQ(at(0x0630'0010), "chip0.management.sim_reset.host + 0x10");
    EXPECT_EQ(at(0x0654'1000), "chip0.nc2.top + 0x141000");
    EXPECT_EQ(at(0x066c'1000), "chip0.nc3.top + 0x141000");
    EXPECT_EQ(at(0x0680'0000), "chip0.h2t0.registers + 0x0");
    EXPECT_EQ(at(0x0692'1038), "chip0.h2t0.registers + 0x121038");
    EXPECT_EQ(at(0x06c8'4024), "chip0.management.misc_ram.in + 0x24");
    EXPECT_EQ(at(0x4614'1000), "chip0.nc4.top + 0x141000");
    EXPECT_EQ(at(0x4680'1038), "chip0.h2t1.registers + 0x1038");
    EXPECT_EQ(at(0x46a0'0000), "chip0.top_sp10.registers + 0x0");
    EXPECT_EQ(at(0x8200'0000 + 31 * 0x10'0000), "chip0.udma0.registers + 0x1f00000");
    EXPECT_EQ(at(0x8c00'0090), "chip0.fis0.registers + 0x90");
    EXPECT_EQ(at(0x9400'0000), "chip0.udma1.registers + 0x0");
    EXPECT_EQ(at(0x9c40'0000), "chip0.fis1.registers + 0x0");
    EXPECT_EQ(at(0xa200'0000), "chip0.udma2.registers + 0x0");
    EXPECT_EQ(at(0xac00'0000), "chip0.fis2.registers + 0x0");
    EXPECT_EQ(at(0xb400'0000), "chip0.udma3.registers + 0x0");
    EXPECT_EQ(at(0xbc40'0000), "chip0.fis3.registers + 0x0");
    EXPECT_EQ(at(0xd000'0000 + 5 * 0x400'0000 + 0x270'1400), "chip0.nc5.aperture + 0x2701400");
    EXPECT_EQ(at(0xf000'0000 + 9 * 0x40'0000), "chip0.top_sp9.aperture + 0x0");
    EXPECT_EQ(at(0xf280'0000), "chip0.top_sp10.aperture + 0x0");
    EXPECT_EQ(at(0xffff'ffff), "nothing");
}

TEST(AddressMap, IsWhatTheElaboratedRoutersDecode) {
    trn::system built(load_board("trn3-chip", kinds()));
    unsigned checked = 0;
    for (const auto index : routers(built.board())) {
        const auto& decoder = dynamic_cast<router&>(built.module(index));
        const auto map = address_map(built.board(), index);
        ASSERT_EQ(decoder.ranges().size(), map.size()) << decoder.name();
        for (std::size_t i = 0; i < map.size(); ++i, ++checked) {
            EXPECT_EQ(decoder.ranges()[i].base, map[i].window.base) << decoder.name();
            EXPECT_EQ(decoder.ranges()[i].size, map[i].window.size) << decoder.name();
            EXPECT_EQ(decoder.ranges()[i].target_base, map[i].window.target_base);
        }
    }
    EXPECT_GT(checked, 100u);
}

/// One chip without training, so that memory answers before any firmware runs.
class Chip : public testing::Test {
protected:
    static constexpr const char* yaml = R"(board: bare
modules:
  host0: {type: pcie_root_port}
  chip0: {type: chips/trainium3, needs_training: false, boot_rom: "", firmware: ""}
bind:
  - host0.down -> chip0.link
  - chip0.link_dma -> host0.dma
)";
    Chip() : built(plan_text(yaml, "bare.yaml", kinds(), {boards_folder(), {}})) {
        for (const char* name :
             {"chip0.axi0", "chip0.axi1", "chip0.bar0", "chip0.bar4", "chip0.management.local"}) {
            auto& made = probes[name] =
                std::make_unique<test::tlm_driver>(sc_core::sc_gen_unique_name("probe"));
            made->out.bind(built.find<router>(name)->target);
        }
        sc_core::sc_start(sc_core::SC_ZERO_TIME);
    }
    /// Debug access through what is bound behind a router.
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

TEST_F(Chip, Bar4AndBothDiesShowTheSameBytesOfEachStack) {
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

TEST_F(Chip, TheManagementProcessorSeesTheAxiSpaceAtBit55) {
    poke("chip0.management.local", (1ull << 55) + 0x8040'0000'1000, 0xabcd);
    EXPECT_EQ(peek("chip0.bar4", 3 * 64_GiB + 0x1000), 0xabcdu);
}

TEST_F(Chip, Bar0ShowsEveryCoresSemaphoresAndState) {
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

TEST_F(Chip, AnswersAnAddressErrorWhereThereIsNothing) {
    std::uint32_t value = 0;
    for (const std::uint64_t address :
         {0x9'0000'0000ull, 0x80'0000'0000ull, 0x1'0000'0000'0000ull, 0xc000'0000'0000ull,
          0x10'0000'0000'0000ull /* a neighbour */, ~0ull - 3})
        for (const char* die : {"chip0.axi0", "chip0.axi1"})
            EXPECT_EQ(debug(die, tlm::TLM_READ_COMMAND, address, value), 0u)
                << die << fmt::format(" 0x{:x}", address);
}

}  // namespace

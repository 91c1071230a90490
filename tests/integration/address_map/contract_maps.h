// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

/// The maps of the device contract as rows, for each generation: sections 3.1 to 3.4, 14 and 15.1.
/// Written from the contract, not from the boards.
namespace trn::test {

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

inline rows sorted(rows list) {
    std::sort(list.begin(), list.end());
    return list;
}

constexpr std::uint64_t die_bit = 1ull << 47;

/// Contract 3.1, and the register blocks of 3.2, for one die.
inline rows axi_of_die(unsigned die, std::uint64_t stack) {
    const std::uint64_t base = die * die_bit;
    const auto numbered = [](const char* format, unsigned n) {
        return fmt::format(fmt::runtime(format), n);
    };
    rows list;
    for (unsigned k = 0; k < 2; ++k) {
        const unsigned seng = die * 2 + k;
        const std::uint64_t half = base + k * 0x40'0000'0000;
        list.push_back({half, stack, numbered("chip0.hbm{}.in", seng)});
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

/// Neighbour windows at bit 52 (contract 3.1) and fabric addresses at bit 63 (invented), for each
/// SENG.
inline void add_other_chips(rows& list) {
    for (unsigned seng = 0; seng < 4; ++seng) {
        list.push_back({0x10'0000'0000'0000 + seng * 1024_TiB, 1024_TiB,
                        fmt::format("chip0.neuron_link.window[{}]", seng)});
        list.push_back({0x8000'0000'0000'0000 + seng * (std::uint64_t{1} << 61),
                        std::uint64_t{1} << 61, fmt::format("chip0.neuron_link.fabric[{}]", seng)});
    }
}

inline rows two_die_axi(std::uint64_t stack) {
    auto list = axi_of_die(0, stack);
    const auto other = axi_of_die(1, stack);
    list.insert(list.end(), other.begin(), other.end());
    list.push_back({0x4000'0000'0000, 64_TiB, "chip0.pcie.dma"});
    add_other_chips(list);
    return sorted(list);
}

/// Adds the part of the AXI space at `axi_base` that is visible in a window of `size` bytes at
/// `bar`.
inline void show(rows& list, const rows& axi, std::uint64_t bar, std::uint64_t size,
                 std::uint64_t axi_base) {
    for (const auto& r : axi) {
        const auto first = std::max(r.base, axi_base);
        const auto end = std::min(r.base + r.size, axi_base + size);
        if (first < end)
            list.push_back({bar + (first - axi_base), end - first, r.target, first - r.base});
    }
}

/// BAR0 of contract 3.2.
inline rows two_die_bar0(const rows& axi) {
    rows list;
    show(list, axi, 0x0000'0000, 512_MiB, 0x0080'0000'0000);
    show(list, axi, 0x4000'0000, 512_MiB, 0x8080'0000'0000);
    show(list, axi, 0x8000'0000, 256_MiB, 0x0010'0000'0000);
    show(list, axi, 0x9000'0000, 256_MiB, 0x0050'0000'0000);
    show(list, axi, 0xa000'0000, 256_MiB, 0x8010'0000'0000);
    show(list, axi, 0xb000'0000, 256_MiB, 0x8050'0000'0000);
    for (unsigned nc = 0; nc < 8; ++nc)
        show(list, axi, 0xd000'0000 + nc * 64_MiB, 64_MiB,
             nc / 4 * die_bit + (std::array{0x20ull, 0x30ull, 0x60ull, 0x70ull}[nc % 4] << 32));
    for (unsigned n = 0; n < 10; ++n) {
        show(list, axi, 0xf000'0000 + n * 4_MiB, 4_MiB, 0x0082'8000'0000 + n * 1_GiB);
        show(list, axi, 0xf280'0000 + n * 4_MiB, 4_MiB, 0x8082'8000'0000 + n * 1_GiB);
    }
    return sorted(list);
}

/// BAR4 of contract 3.4.
inline rows bar4(unsigned stacks, std::uint64_t slice, std::uint64_t shown) {
    rows list;
    for (unsigned n = 0; n < stacks; ++n)
        list.push_back({n * slice, shown, fmt::format("chip0.hbm{}.in", n)});
    return list;
}

/// AXI space of contract 15.1.
inline rows one_die_axi() {
    rows list;
    constexpr std::uint64_t tpb = 0xfff'c000'0000, top_sp = 0xfff'd000'0000, apb = 0xfff'f000'0000;
    for (unsigned n = 0; n < 2; ++n) {
        const auto named = [n](const char* module, const char* port) {
            return fmt::format("chip0.{}{}.{}", module, n, port);
        };
        list.push_back({n * 0x10'0000'0000ull, 16_GiB, named("hbm", "in")});
        list.push_back({tpb + n * 64_MiB, 64_MiB, named("nc", "aperture")});
        const std::uint64_t seng = apb + n * 0x70'0000;
        list.push_back({seng, 16 * 0x4'0000, named("udma", "registers")});
        list.push_back({seng + 0x40'0000, 16 * 0x7000, named("udma", "misc")});
        list.push_back({seng + 0x53'0000, 0xd'0000, named("nc", "top")});
        list.push_back({seng + 0x60'0000, 0x4'7000, named("h2t", "registers")});
    }
    for (unsigned n = 0; n < 6; ++n) {
        list.push_back({top_sp + n * 4_MiB, 4_MiB, fmt::format("chip0.top_sp{}.aperture", n)});
        list.push_back(
            {apb + 0xe0'0000 + n * 256_KiB, 256_KiB, fmt::format("chip0.top_sp{}.registers", n)});
    }
    list.push_back({apb + 0x64'7000, 4_KiB, "chip0.management.sim_reset.host"});
    list.push_back({apb + 0xfa'0000, 4_KiB, "chip0.management.misc_ram.in"});
    list.push_back({0x1000'0000'0000, 16_TiB, "chip0.pcie.dma"});
    add_other_chips(list);
    return sorted(list);
}

inline rows one_die_bar0(const rows& axi) {
    rows list;
    for (unsigned n = 0; n < 2; ++n)
        show(list, axi, n * 64_MiB, 64_MiB, 0xfff'c000'0000 + n * 64_MiB);
    for (unsigned n = 0; n < 6; ++n)
        show(list, axi, 0x1000'0000 + n * 4_MiB, 4_MiB, 0xfff'd000'0000 + n * 4_MiB);
    show(list, axi, 0x3000'0000, 16_MiB, 0xfff'f000'0000);
    return sorted(list);
}

/// The map that a generation's boards must decode.
struct contract_map {
    std::string name, board;
    std::vector<std::string> routers;  ///< routers with access to the AXI space
    rows axi, bar0, bar4, simulator_bar4;
    /// Offsets given literally by the contract, to check the arithmetic of this file.
    std::vector<std::pair<std::uint64_t, std::string>> spelled_out;
};

inline contract_map two_dies(const std::string& name, const std::string& board,
                             std::uint64_t stack) {
    const auto axi = two_die_axi(stack);
    return {name,
            board,
            {"chip0.axi0", "chip0.axi1"},
            axi,
            two_die_bar0(axi),
            bar4(4, 64_GiB, stack),
            bar4(4, 4_GiB, 4_GiB),
            {
                {0x0600'1000, "chip0.nc0.top + 0x1000"},
                {0x062c'1000, "chip0.nc1.top + 0x141000"},
                {0x0630'0010, "chip0.management.sim_reset.host + 0x10"},
                {0x0654'1000, "chip0.nc2.top + 0x141000"},
                {0x066c'1000, "chip0.nc3.top + 0x141000"},
                {0x0680'0000, "chip0.h2t0.registers + 0x0"},
                {0x0692'1038, "chip0.h2t0.registers + 0x121038"},
                {0x06c8'4024, "chip0.management.misc_ram.in + 0x24"},
                {0x4614'1000, "chip0.nc4.top + 0x141000"},
                {0x4680'1038, "chip0.h2t1.registers + 0x1038"},
                {0x46a0'0000, "chip0.top_sp10.registers + 0x0"},
                {0x8200'0000 + 31 * 0x10'0000, "chip0.udma0.registers + 0x1f00000"},
                {0x8c00'0090, "chip0.fis0.registers + 0x90"},
                {0x9400'0000, "chip0.udma1.registers + 0x0"},
                {0x9c40'0000, "chip0.fis1.registers + 0x0"},
                {0xa200'0000, "chip0.udma2.registers + 0x0"},
                {0xac00'0000, "chip0.fis2.registers + 0x0"},
                {0xb400'0000, "chip0.udma3.registers + 0x0"},
                {0xbc40'0000, "chip0.fis3.registers + 0x0"},
                {0xd000'0000 + 5 * 0x400'0000 + 0x270'1400, "chip0.nc5.aperture + 0x2701400"},
                {0xf000'0000 + 9 * 0x40'0000, "chip0.top_sp9.aperture + 0x0"},
                {0xf280'0000, "chip0.top_sp10.aperture + 0x0"},
                {0xffff'ffff, "nothing"},
            }};
}

inline contract_map one_die(const std::string& name, const std::string& board) {
    const auto axi = one_die_axi();
    return {name,
            board,
            {"chip0.axi"},
            axi,
            one_die_bar0(axi),
            bar4(2, 16_GiB, 16_GiB),
            bar4(2, 16_GiB, 16_GiB),
            {
                {0x0270'1000, "chip0.nc0.aperture + 0x2701000"},
                {0x0400'0000 + 0x270'1c00, "chip0.nc1.aperture + 0x2701c00"},
                {0x1000'0000 + 5 * 0x40'0000, "chip0.top_sp5.aperture + 0x0"},
                {0x3000'0000 + 15 * 0x4'0000, "chip0.udma0.registers + 0x3c0000"},
                {0x3070'0000, "chip0.udma1.registers + 0x0"},
                {0x3040'0000 + 15 * 0x7000 + 0x1000, "chip0.udma0.misc + 0x6a000"},
                {0x30b0'0000, "chip0.udma1.misc + 0x0"},
                {0x3053'5000, "chip0.nc0.top + 0x5000"},
                {0x305b'1100, "chip0.nc0.top + 0x81100"},
                {0x30c3'5000, "chip0.nc1.top + 0x5000"},
                {0x30cb'1000, "chip0.nc1.top + 0x81000"},
                {0x3060'0000, "chip0.h2t0.registers + 0x0"},
                {0x3064'0000, "chip0.h2t0.registers + 0x40000"},
                {0x30d0'0000, "chip0.h2t1.registers + 0x0"},
                {0x30d4'1000, "chip0.h2t1.registers + 0x41000"},
                {0x3064'7010, "chip0.management.sim_reset.host + 0x10"},
                {0x30e0'4000 + 2 * 0x4'0000, "chip0.top_sp2.registers + 0x4000"},
                {0x30fa'0024, "chip0.management.misc_ram.in + 0x24"},
                {0x3fff'ffff, "nothing"},
            }};
}

inline std::vector<contract_map> contract_maps() {
    return {two_dies("Trainium3", "trn3-chip", 36_GiB), two_dies("Trainium2", "trn2-chip", 24_GiB),
            one_die("Trainium1", "trn1-chip"), one_die("Inferentia2", "inf2-chip")};
}

}  // namespace trn::test

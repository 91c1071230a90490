// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sw-stubs/driver/include/trn_driver.h"

namespace trn::test {

/// Block addresses of the contract, repeated here independently to check the driver stub's table.
struct contract_map {
    std::uint64_t register_bar_bytes;  ///< minimum size
    // Offsets in the register BAR (contract 3.2, 9, 15.1).
    std::uint64_t misc_ram, engine_0, state_buffers;
    struct notifier {
        trn_notifier kind;
        std::uint32_t number;
        std::uint64_t registers;
    };
    std::vector<notifier> notifiers;
    std::vector<std::uint64_t> pe_counters;
    std::vector<std::uint64_t> holes;  ///< unassigned offsets

    // AXI addresses.
    std::uint64_t misc_ram_axi;
    std::vector<std::uint64_t> programs, no_programs;  ///< next to cores and stacks (contract 10)

    std::uint32_t api_version;
    bool has_neighbours;
    bool ring_id_errors_are_masked;  ///< by the driver (contract 6.1, 15.3)
};

inline const contract_map& two_dies() {
    static const contract_map map = [] {
        contract_map made{
            .register_bar_bytes = std::uint64_t{4} << 30,
            .misc_ram = 0x06C8'4000,
            .engine_0 = 0x8200'0000,
            .state_buffers = 0xD000'0000,
            .notifiers = {{TRN_NOTIFY_CORE, 0, 0x0600'1000},
                          {TRN_NOTIFY_CORE, 1, 0x0618'1000},
                          {TRN_NOTIFY_CORE, 6, 0x4640'1000},
                          {TRN_NOTIFY_TOP_SP, 3, 0x06AC'0000},
                          {TRN_NOTIFY_TOP_SP, 15, 0x46BC'0000},
                          {TRN_NOTIFY_DMA, 0, 0x8204'1000},
                          {TRN_NOTIFY_DMA, 127, 0xB5F4'1000},
                          {TRN_NOTIFY_DMA, 128, 0x0684'1000}},
            .pe_counters = {0x0614'1000, 0x062C'1000, 0x0654'1000, 0x066C'1000, 0x4614'1000,
                            0x462C'1000, 0x4654'1000, 0x466C'1000},
            .holes = {0x0000'1000, 0x830f'ff00, 0xC000'0000},
            .misc_ram_axi = 0x80'06C8'4000,
            .programs = {},
            .no_programs = {0x80'06C8'4000, 0x10'0200'0000, std::uint64_t{1} << 46,
                            std::uint64_t{1} << 52, 0x8052'0000'0000 + 0x34C'0000 - 255},
            .api_version = 7,
            .has_neighbours = true,
            .ring_id_errors_are_masked = true};
        for (const std::uint64_t die : {0x0ull, 0x8000'0000'0000ull}) {
            for (std::uint64_t n = 0; n < 10; ++n)
                made.programs.push_back(die + 0x82'8000'0000 + (n << 30) + 0x4000);
            made.programs.push_back(die + 0x12'0000'0000);
            made.programs.push_back(die + 0x52'0000'0000 + 0x34C'0000 - 256);
        }
        return made;
    }();
    return map;
}

inline const contract_map& one_die() {
    static const contract_map map{.register_bar_bytes = 0x3100'0000,
                                  .misc_ram = 0x30FA'0000,
                                  .engine_0 = 0x3000'0000,
                                  .state_buffers = 0,
                                  .notifiers = {{TRN_NOTIFY_CORE, 0, 0x3053'5000},
                                                {TRN_NOTIFY_CORE, 1, 0x30C3'5000},
                                                {TRN_NOTIFY_TOP_SP, 3, 0x30EC'4000},
                                                {TRN_NOTIFY_DMA, 0, 0x3040'1000},
                                                {TRN_NOTIFY_DMA, 17, 0x30B0'8000},
                                                {TRN_NOTIFY_DMA, 32, 0x3064'1000}},
                                  .pe_counters = {},  // read by firmware only
                                  .holes = {0x2000'0000},
                                  .misc_ram_axi = 0xFFF'F0FA'0000,
                                  .programs = {0xFFF'D000'4000, 0xFFF'D000'4000 + 5 * 0x40'0000},
                                  .no_programs = {0xFFF'F0FA'0000, std::uint64_t{1} << 44},
                                  .api_version = 5,
                                  .has_neighbours = false,
                                  .ring_id_errors_are_masked = false};
    return map;
}

/// A chip on which the driver contract is checked.
struct contract_board {
    std::string name;  ///< used in the test's name
    std::string board;
    std::vector<std::string> set;
    std::uint16_t device_id;
    std::uint8_t revision;
    trn_mode mode;
    const contract_map& map;
};

/// One line per board and revision mode (contract 1.1, 2).
inline const std::vector<contract_board> contract_boards{
    {"Trn3Silicon", "trn3-chip", {"revision=1"}, 0x7564, 1, TRN_MODE_SILICON, two_dies()},
    {"Trn3Emulator", "trn3-chip", {"revision=240"}, 0x7564, 240, TRN_MODE_EMULATOR, two_dies()},
    {"Trn3Simulator", "trn3-chip-sim", {}, 0x7564, 255, TRN_MODE_QEMU, two_dies()},
    {"Trn2Silicon", "trn2-chip", {"revision=1"}, 0x7364, 1, TRN_MODE_SILICON, two_dies()},
    {"Trn2Emulator", "trn2-chip", {"revision=240"}, 0x7364, 240, TRN_MODE_EMULATOR, two_dies()},
    {"Trn2Simulator", "trn2-chip-sim", {}, 0x7364, 255, TRN_MODE_QEMU, two_dies()},
    {"Trn1Silicon", "trn1-chip", {"revision=1"}, 0x7164, 1, TRN_MODE_SILICON, one_die()},
    {"Trn1Emulator", "trn1-chip", {"revision=240"}, 0x7164, 240, TRN_MODE_EMULATOR, one_die()},
    {"Trn1Simulator", "trn1-chip-sim", {}, 0x7164, 255, TRN_MODE_QEMU, one_die()},
    {"Inf2Silicon", "inf2-chip", {"revision=1"}, 0x7264, 1, TRN_MODE_SILICON, one_die()},
};

}  // namespace trn::test

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sw-stubs/include/trn_driver.h"

namespace trn::test {

/// A chip that the driver contract is checked on.
struct contract_board {
    std::string name;  ///< in the test's name
    std::string board;
    std::vector<std::string> set;
    std::uint16_t device_id;
    std::uint8_t revision;
    trn_mode mode;
};

/// One line per board and revision mode (contract 1.1, 2).
inline const std::vector<contract_board> contract_boards{
    {"Trn3Silicon", "trn3-chip", {"revision=1"}, 0x7564, 1, TRN_MODE_SILICON},
    {"Trn3Emulator", "trn3-chip", {"revision=240"}, 0x7564, 240, TRN_MODE_EMULATOR},
    {"Trn3Simulator", "trn3-chip-sim", {}, 0x7564, 255, TRN_MODE_QEMU},
};

}  // namespace trn::test

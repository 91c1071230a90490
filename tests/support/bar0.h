// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "models/soc/misc_ram/misc_ram_regs.h"

namespace trn::test::bar0 {

/// Offset of the misc RAM in BAR0 of Trainium2 and Trainium3 (contract 3.2).
inline constexpr std::uint64_t misc_ram = 0x06C8'4000;

constexpr std::uint64_t offset(misc_ram_regs::reg r, std::uint32_t index = 0) {
    return misc_ram + misc_ram_regs::offset(r, index);
}

}  // namespace trn::test::bar0

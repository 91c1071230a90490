// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "platform/framework/kernel/vcd.h"

namespace trn {

/// Finds the registers, fields and lines of a built board that match `patterns` (doc/waveforms.md):
/// "chip0.management.uart.LSR", "chip0.nc0.SEMAPHORE_READ[3]",
/// "chip*.management.misc_ram.doorbell". \throws std::invalid_argument with similar names when a
/// pattern matches nothing
std::vector<vcd_signal> find_signals(const std::vector<std::string>& patterns);

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "platform/framework/waves/wave_file.h"

namespace trn {

/// Finds the signals and transactions of a built board that match `patterns` (doc/waveforms.md):
/// "chip0.management.uart.LSR", "chip0.nc0.SEMAPHORE_READ[3]", "chip*.udma0.engine3.transactions".
/// `modules`: names in the trace besides those that models publish. \throws std::invalid_argument
/// with similar names when a pattern matches nothing
wave_content find_signals(const std::vector<std::string>& patterns,
                          const std::vector<std::string>& modules = {});

/// All that find_signals() finds in `module` ("": in the board), as objects: name, width, and of
/// an array elements, of a state its names. \throws std::invalid_argument when it has none
nlohmann::json list_signals(const std::string& module, const std::vector<std::string>& modules);

}  // namespace trn

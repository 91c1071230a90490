// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "platform/framework/waves/wave_file.h"

namespace trn {

/// Finds the signals and transactions of a built board that match `patterns` (doc/waveforms.md):
/// "chip0.management.uart.LSR", "chip0.nc0.SEMAPHORE_READ[3]", "chip*.udma0.engine3.transactions".
/// `modules`: names in the trace besides those that models publish. \throws std::invalid_argument
/// with similar names when a pattern matches nothing
wave_content find_signals(const std::vector<std::string>& patterns,
                          const std::vector<std::string>& modules = {});

/// "did you mean 'x'?  (known: ...)" for a name that none of them finds.
std::string suggest_signal(std::string_view wrong, const std::vector<std::string>& modules = {});

/// What find_signals() finds in the modules and registers that match `pattern` ("": in the board),
/// as a list of objects: name, bits; elements of an array, now of what models publish. \throws
/// std::invalid_argument with similar names when nothing matches, or for more than 100,000
nlohmann::json list_signals(const std::string& pattern, const std::vector<std::string>& modules);

}  // namespace trn

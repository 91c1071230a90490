// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace trn {

/// Lines for an element of the control method's list `faults`: which modules have the faults, as
/// names and patterns, so that a rack takes no more lines than a chip.
std::string faulty_modules_text(const nlohmann::json& group);
/// A fault of such an element, with a line for each argument.
std::string fault_text(const nlohmann::json& fault);

}  // namespace trn

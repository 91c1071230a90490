// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "platform/framework/misuse/misuse.h"

namespace trn::misuse {

/// The chip of `chips` that contains a module; "" for modules outside of chips.
std::string chip_of(std::string_view module, const std::vector<std::string>& chips);

/// {"failed", "total", "chips": {chip: count}, "rules": [{rule, name, policy, chip, module, ...}],
/// "allowed": [{rule, name, allowance, reason, count, limit}]}, the same in a replay
nlohmann::json to_json(const std::vector<std::string>& chips);
/// The report as text: a line per chip, one per rule and module, and allowed_lines(); "" when
/// nothing was counted.
std::string to_text(const std::vector<std::string>& chips);
/// A line for each allowance: what it has allowed, or a warning that it was not used.
std::vector<std::string> allowed_lines();

}  // namespace trn::misuse

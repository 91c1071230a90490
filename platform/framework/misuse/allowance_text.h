// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/framework/config/document.h"
#include "platform/framework/misuse/allowance.h"

namespace trn::misuse {

constexpr std::size_t max_allowances = 1000;  ///< of one list

/// Returns a scalar with its parameters replaced, or nothing after an error, which it reports.
using text_of = std::function<std::optional<std::string>(const config::node&)>;

/// Why a pattern for modules is wrong, or nothing.
using fault_of = std::function<std::optional<config::refusal>(std::string_view modules)>;

/// Reads the list of the key `allow`; reports mistakes at their places, and leaves out the
/// allowances that have any.
std::vector<allowance> read_allowances(const config::node& list, const text_of& text,
                                       const fault_of& fault = {});

/// Reads a file that has only the key `allow`. \throws config_error
std::vector<allowance> load_allowances(const std::filesystem::path& file);

/// Parses "rule=TRN-DMA-004,at=chip*.udma*,count=3,reason=..."; the reason is last and may have
/// commas. `origin`: the option, for reports. \throws config_error
allowance parse_allowance(std::string_view text, const std::string& origin);

}  // namespace trn::misuse

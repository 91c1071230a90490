// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "platform/framework/netlist/expansion/plan_options.h"
#include "platform/framework/netlist/plan/plan.h"

namespace trn {

/// Reads a board and all files that it names.
/// \throws config_error with all errors, sorted by location
plan plan_board(const std::filesystem::path& file, const kind_list& kinds,
                const plan_options& options);
/// Like plan_board() for text without a file; diagnostics use `name`.
plan plan_text(std::string text, std::string name, const kind_list& kinds,
               const plan_options& options);

}  // namespace trn

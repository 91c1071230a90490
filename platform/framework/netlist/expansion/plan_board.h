// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "platform/framework/netlist/plan/plan.h"

namespace trn {

/// The folder of assemblies, searched after that of the naming file; and values for the board's
/// parameters ("name=value").
struct plan_options {
    std::filesystem::path boards;
    std::vector<std::string> set;
    trn::on_origin on_origin = {};  ///< may be empty
};

/// Reads a board and all files that it names.
/// \throws config_error with all errors, sorted by location
plan plan_board(const std::filesystem::path& file, const kind_list& kinds,
                const plan_options& options);
/// Like plan_board() for text without a file; diagnostics use `name`.
plan plan_text(std::string text, std::string name, const kind_list& kinds,
               const plan_options& options);

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "platform/framework/netlist/plan.h"

namespace trn {

/// Where assemblies are looked for, besides the folder of the file that names them; and values for
/// the board's own parameters ("name=value").
struct plan_options {
    std::filesystem::path boards;
    std::vector<std::string> set;
};

/// Reads a board and everything it names.
/// \throws config_error with all mistakes, in the order of their places.
plan plan_board(const std::filesystem::path& file, const kind_list& kinds,
                const plan_options& options);
/// The same for text that is not in a file; `name` stands in diagnostics.
plan plan_text(std::string text, std::string name, const kind_list& kinds,
               const plan_options& options);

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "platform/app/scenario/scenario.h"

namespace trn::scenario {

/// Checks a board with "name=value" for its parameters. \throws config_error
using board_check = std::function<void(const std::string& board, const std::vector<std::string>&)>;

/// A scenario per point of a file's matrix. Mistakes are collected in `problems`; those that
/// `check` finds get the place where the scenario names the board, its parameter or the firmware.
/// \throws config_error when the file is no YAML at all
std::vector<scenario> load(const std::filesystem::path& file, diagnostics& problems,
                           const board_check& check = {});

/// The .yaml files of a folder and its subfolders, in the order of their names; of a file, the
/// file. \throws config_error when the path does not exist
std::vector<std::filesystem::path> find_files(const std::filesystem::path& where);

}  // namespace trn::scenario

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

/// Loads a file: one scenario per point of its matrix. Errors are collected in `problems`; those of
/// `check` are reported at the board's name, its parameter or the firmware. \throws config_error
/// when the file is not YAML
std::vector<scenario> load(const std::filesystem::path& file, diagnostics& problems,
                           const board_check& check = {});

/// The .yaml files of a folder and its subfolders, sorted by name; for a file, the file itself.
/// \throws config_error when the path does not exist
std::vector<std::filesystem::path> find_files(const std::filesystem::path& where);

}  // namespace trn::scenario

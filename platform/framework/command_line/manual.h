// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace CLI {
class App;
}

namespace trn::cli {

/// Writes what --help has as manual pages into FOLDER/man1, NAME.1 of the program and
/// NAME-COMMAND.1 of each command that is in it, and a script for each shell into FOLDER/bash, zsh
/// and fish. \returns an error message or ""
std::string write_manuals(const CLI::App& app, const std::filesystem::path& folder);

}  // namespace trn::cli

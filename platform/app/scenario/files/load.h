// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "platform/app/scenario/language/scenario.h"

namespace trn::scenario {

/// Checks a board with "name=value" for its parameters, and unless `modules` is empty, that this
/// pattern names modules of it (misuse::is_at()). \throws config_error
using board_check = std::function<void(
    const std::string& board, const std::vector<std::string>& set, const std::string& modules)>;

/// Loads a file: one scenario per point of its matrix. Whatever is wrong with the file is in the
/// `mistakes` of the scenarios concerned; those of `check` are at the board's name, its parameter
/// or the firmware. A file whose scenarios cannot be told apart is one scenario without a name.
std::vector<scenario> load(const std::filesystem::path& file, const board_check& check = {});

/// Calls prepare() of each scenario without mistakes; adds the mistakes that it finds, and the
/// files that it reads to the digest. `stop` is polled: when true, prepare() returns early.
void prepare(std::span<scenario> all, const std::function<bool()>& stop = {});

/// The mistakes of all scenarios, each once.
diagnostics mistakes_of(std::span<const scenario> all);

/// The .yaml files of a folder and its subfolders, sorted by name; for a file, the file itself. A
/// folder that cannot be read is in the list itself, so that load() reports it. \throws
/// config_error when the path does not exist
std::vector<std::filesystem::path> find_files(const std::filesystem::path& path);

}  // namespace trn::scenario

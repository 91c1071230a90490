// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "platform/framework/netlist/plan.h"

namespace trn {

/// Where the boards are: $TRNVP_BOARDS, else beside the program (installed, or in a source tree's
/// build folder).
std::filesystem::path boards_folder();

struct board_entry {
    std::string name;  ///< what a command line says
    std::string description;
    std::filesystem::path file;
};
/// The boards of the folder by name; one that cannot be read says so in its description.
std::vector<board_entry> list_boards();

/// Whether a command line's word names a board: a path, or a board in the folder.
bool is_board(const std::string& name_or_path);

/// A path (with a '/' or ending in .yaml), or the name of a board in the folder.
/// \throws config_error (E55) with the names that are near.
std::filesystem::path find_board(const std::string& name_or_path);

/// Reads the board that a command line names; `set` are "name=value" for its parameters, `boards`
/// is where assemblies are looked for instead of boards_folder().
plan load_board(const std::string& name_or_path, const kind_list& kinds,
                std::vector<std::string> set = {}, std::filesystem::path boards = {});

}  // namespace trn

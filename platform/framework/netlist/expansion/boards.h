// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "platform/framework/netlist/expansion/plan_options.h"
#include "platform/framework/netlist/plan/plan.h"

namespace trn {

/// Folder of the boards: $TRNVP_BOARDS, else that of a source tree's build folder or of an
/// installation (share_folder()).
std::filesystem::path boards_folder();

struct board_entry {
    std::string name;  ///< name on a command line
    std::string description;
    std::filesystem::path file;
};
/// The boards in the folder, by name; for an unreadable one the description is the error.
std::vector<board_entry> list_boards();

/// Whether a command line argument names a board: a path, or a board in the folder.
bool is_board(const std::string& name_or_path);

/// Resolves a path (with a '/' or ending in .yaml) or the name of a board in the folder.
/// \throws config_error (E55) with similar names
std::filesystem::path find_board(const std::string& name_or_path);

/// Reads the board named on a command line; `set` contains "name=value" for its parameters,
/// `boards` replaces boards_folder() as the folder of assemblies.
plan load_board(const std::string& name_or_path, const kind_list& kinds,
                std::vector<std::string> set = {}, std::filesystem::path boards = {});

/// Reads a board or an assembly that becomes a part of something else: a path, or a name in the
/// folder ("trn3-sled", "chips/trainium3"). Sets `options.open`.
/// \throws config_error (E55) with similar names
plan load_open_board(const std::string& name_or_path, const kind_list& kinds, plan_options options);

}  // namespace trn

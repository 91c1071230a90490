// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/netlist/expansion/boards.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "platform/framework/config/share_folder.h"
#include "platform/framework/netlist/document/assembly.h"
#include "platform/framework/netlist/expansion/plan_board.h"

namespace trn {

namespace fs = std::filesystem;

namespace {

std::string describe(const fs::path& file) {
    diagnostics problems;
    try {
        const auto board = read_assembly(config::document::load(file, problems), file.parent_path(),
                                         file_role::board);
        return problems.empty() ? board.description : "(has mistakes)";
    } catch (const config_error&) {
        return "(cannot be read)";
    }
}

/// The shortest path from the working folder, as a user would type it.
fs::path shortest(const fs::path& absolute) {
    std::error_code error;
    const auto here = fs::current_path(error);  // the folder may have been removed
    const auto relative = error ? fs::path() : fs::relative(absolute, here, error);
    return !error && relative.string().size() < absolute.string().size() ? relative : absolute;
}

bool is_path(const fs::path& name) {
    return name.has_parent_path() || name.extension() == ".yaml";
}

fs::path file_of(const std::string& name) {
    return boards_folder() / (name + ".yaml");
}

}  // namespace

fs::path boards_folder() {
    if (const char* given = std::getenv("TRNVP_BOARDS"); given != nullptr && *given != 0)
        return given;
    const auto folder =
        share_folder("boards", {"../platform/boards", "../../platform/boards"}, "chips");
    return folder.empty() ? "platform/boards" : shortest(folder);
}

std::vector<board_entry> list_boards() {
    std::vector<board_entry> boards;
    std::error_code error;
    for (const auto& e : fs::directory_iterator(boards_folder(), error))
        if (e.path().extension() == ".yaml")
            boards.push_back({e.path().stem(), describe(e.path()), e.path()});
    std::ranges::sort(boards, {}, &board_entry::name);
    return boards;
}

bool is_board(const std::string& name_or_path) {
    std::error_code error;
    return is_path(name_or_path) || fs::is_regular_file(file_of(name_or_path), error);
}

fs::path find_board(const std::string& name_or_path) {
    if (is_path(name_or_path)) return name_or_path;
    if (is_board(name_or_path)) return file_of(name_or_path);
    std::vector<std::string> names;
    for (const auto& board : list_boards()) names.push_back(board.name);
    throw config_error(diagnostic{
        .code = mistake::unknown_board,
        .message = fmt::format("no board '{}' in {}", name_or_path, boards_folder().string()),
        .suggestion = suggest(name_or_path, names)});
}

plan load_open_board(const std::string& name_or_path, const kind_list& kinds,
                     plan_options options) {
    options.open = true;
    std::error_code error;
    for (const fs::path& file : {fs::path(name_or_path), options.boards / (name_or_path + ".yaml")})
        if (fs::is_regular_file(file, error)) return plan_board(file, kinds, options);
    std::vector<std::string> names;
    for (const auto& e : fs::recursive_directory_iterator(options.boards, error))
        if (e.path().extension() == ".yaml")
            names.push_back(
                fs::relative(e.path(), options.boards, error).replace_extension().generic_string());
    std::ranges::sort(names);
    throw config_error(diagnostic{
        .code = mistake::unknown_board,
        .file = options.place.file,
        .line = options.place.line,
        .column = options.place.column,
        .message = fmt::format("no board or assembly '{}': it is neither a file nor in {}",
                               name_or_path, options.boards.string()),
        .suggestion = suggest(name_or_path, names)});
}

plan load_board(const std::string& name_or_path, const kind_list& kinds,
                std::vector<std::string> set, fs::path boards) {
    if (boards.empty()) boards = boards_folder();
    return plan_board(find_board(name_or_path), kinds, {std::move(boards), std::move(set)});
}

}  // namespace trn

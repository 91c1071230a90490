// SPDX-License-Identifier: Apache-2.0
#include "platform/app/regression/history/run_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>

#include "platform/app/regression/history/history.h"
#include "platform/app/regression/records/record_file.h"
#include "platform/framework/config/file.h"

namespace trn::regression {

namespace fs = std::filesystem;

namespace {

bool is_there(const fs::path& file) {
    std::error_code unknown;
    return fs::exists(file, unknown);
}

bool is_folder(const fs::path& path) {
    std::error_code unknown;
    return fs::is_directory(path, unknown);
}

bool has_record(const fs::path& folder) {
    return is_there(folder / record_name) || is_there((folder / record_name).string() + ".part");
}

/// ", but 2 folders with a record, such as out/1": to be named one by one.
std::string records_below(const fs::path& folder) {
    std::vector<std::string> found;
    std::error_code unreadable;
    for (const auto& entry : fs::directory_iterator(folder, unreadable))
        if (has_record(entry.path())) found.push_back(entry.path().string());
    if (found.empty()) return "";
    return fmt::format(", but {} folders with a record, such as {}", found.size(),
                       *std::ranges::min_element(found));
}

}  // namespace

std::vector<run_record> read_runs(const fs::path& path, std::size_t limit) {
    if (!is_there(path) && !is_there(path.string() + ".part"))
        throw file_error(fmt::format("{}: no such file or folder", path.string()));
    if (!is_folder(path) && path.extension() == ".json") return {read_past_run(path)};
    if (!is_folder(path) || has_record(path)) return {read_record(path)};
    const auto files = history_files(path, limit);
    if (files.empty())
        throw file_error(fmt::format(
            "{}: this folder has no record {} (trnvp test --report) and no file of a history "
            "(--history){}",
            path.string(), record_name, records_below(path)));
    std::vector<run_record> all;
    std::vector<std::string> problems;
    for (const auto& file : files) try {
            all.push_back(read_past_run(file));
            all.back().problems = std::exchange(problems, {});
        } catch (const file_error& why) {
            problems.emplace_back(why.what());
        }
    if (all.empty()) throw file_error(problems.front());
    all.back().problems.insert(all.back().problems.end(), problems.begin(), problems.end());
    return all;
}

run_record read_run(const fs::path& path) {
    return read_runs(path, 1).back();
}

}  // namespace trn::regression

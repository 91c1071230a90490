// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace trn {

/// The files from which modules of a kernel were loaded, for their symbols.
class module_files {
public:
    /// Files of later folders and files are preferred.
    void add_folder(std::filesystem::path folder) { folders_.push_back(std::move(folder)); }
    void add_file(std::filesystem::path file) { files_.push_back(std::move(file)); }

    /// Candidates for the module, best first; `name` has '_' where the file's may have '-'.
    std::vector<std::filesystem::path> named(std::string_view name) const;

private:
    std::vector<std::filesystem::path> folders_, files_;
};

}  // namespace trn

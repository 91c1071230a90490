// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
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
    void add_folder(std::filesystem::path folder) { prefer(folders_, std::move(folder)); }
    void add_file(std::filesystem::path file) { prefer(files_, std::move(file)); }
    /// Another number when a folder or file was added since.
    std::size_t version() const { return version_; }

    /// Candidates for the module, best first; `name` has '_' where the file's may have '-'.
    std::vector<std::filesystem::path> named(std::string_view name) const;

private:
    using paths = std::vector<std::filesystem::path>;
    void prefer(paths& all, std::filesystem::path added);

    paths folders_, files_;
    std::size_t version_ = 0;
};

}  // namespace trn

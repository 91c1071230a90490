// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

#include "platform/framework/process/temporary_folder.h"

namespace trn {

/// A temporary folder, removed by the destructor; it stays if this process is killed, unlike a
/// temporary_folder, which has processes that guard it.
class work_folder {
public:
    /// \throws std::system_error
    explicit work_folder(const std::string& prefix) : path_(make_temporary_folder(prefix)) {}
    ~work_folder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    work_folder(const work_folder&) = delete;
    work_folder& operator=(const work_folder&) = delete;

    std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
    const std::filesystem::path& path() const { return path_; }

private:
    const std::filesystem::path path_;
};

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace trn {

/// A folder for this user alone, and a group for the processes that work in it. Both end with the
/// object or with this process, however that ends: the processes first, then the folder. A process
/// of its own sees to that, and another one leads the group.
class temporary_folder {
public:
    /// "PREFIX-XXXXXX" where temporary files are. \throws std::system_error
    explicit temporary_folder(const std::string& prefix);
    /// Ends the group and removes the folder now.
    ~temporary_folder();
    temporary_folder(const temporary_folder&) = delete;
    temporary_folder& operator=(const temporary_folder&) = delete;

    const std::filesystem::path& path() const { return path_; }
    pid_t group() const { return leader_; }

private:
    std::filesystem::path path_;
    pid_t remover_ = -1, leader_ = -1;
    int alive_;  // a pipe, at its end when this process is at its own
};

}  // namespace trn

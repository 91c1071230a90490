// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>

#include "platform/framework/process/child_process.h"
#include "platform/framework/unique_fd.h"

namespace trn {

/// Makes "PREFIX-XXXXXX" in the folder for temporary files, accessible to this user only. \throws
/// std::system_error
std::filesystem::path make_temporary_folder(const std::string& prefix);

/// A file without a name in the folder for temporary files, for reading and writing. \throws
/// std::system_error
unique_fd unnamed_file(const std::string& prefix);

/// A temporary folder, and a process group for the programs that use it. Both are removed with the
/// object, or when this process ends for any reason: first the processes, then the folder. One
/// guard process removes them; another leads the group.
class temporary_folder {
public:
    /// \throws std::system_error
    explicit temporary_folder(const std::string& prefix);
    /// Kills the group and removes the folder.
    ~temporary_folder();
    temporary_folder(const temporary_folder&) = delete;
    temporary_folder& operator=(const temporary_folder&) = delete;

    const std::filesystem::path& path() const { return path_; }
    pid_t group() const { return leader_->pid(); }

private:
    void start_guards();

    const std::filesystem::path path_;
    unique_fd alive_;  // write end of a pipe; when it is closed, the guards clean up
    std::optional<child_process> leader_, remover_;
};

}  // namespace trn

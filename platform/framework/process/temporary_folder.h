// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>

#include "platform/framework/process/child_process.h"
#include "platform/framework/unique_fd.h"

namespace trn {

/// Makes "PREFIX-XXXXXX" where temporary files are, for this user alone. \throws std::system_error
std::filesystem::path make_temporary_folder(const std::string& prefix);

/// A temporary folder, and a group for the processes that work in it. Both end with the object or
/// with this process, however that ends: the processes first, then the folder. A guard process
/// removes them; a second one leads the group.
class temporary_folder {
public:
    /// \throws std::system_error
    explicit temporary_folder(const std::string& prefix);
    /// Ends the group and removes the folder now.
    ~temporary_folder();
    temporary_folder(const temporary_folder&) = delete;
    temporary_folder& operator=(const temporary_folder&) = delete;

    const std::filesystem::path& path() const { return path_; }
    pid_t group() const { return leader_->pid(); }

private:
    void start_guards();

    const std::filesystem::path path_;
    unique_fd alive_;  // of a pipe: the guards read its end when this process ends
    std::optional<child_process> leader_, remover_;
};

}  // namespace trn

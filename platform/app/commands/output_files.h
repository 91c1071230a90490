// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace trn {

/// The files that a command is asked to write: no two options may name one file, which would then
/// hold a mixture. Devices and pipes may be named several times.
class output_files {
public:
    /// Names a file that must not be written: "a scenario".
    void keep(const std::filesystem::path& file, const std::string& noun);
    /// Adds the file of an option; an empty path is none. \throws user_error when the file is kept,
    /// or another option's
    void add(const std::string& option, const std::filesystem::path& file);

private:
    std::map<std::filesystem::path, std::string> taken_;  // by path without links
};

}  // namespace trn

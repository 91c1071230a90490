// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string_view>

namespace trn {

/// Output was lost: a full disk, a limit of the operating system. Not an error of the user:
/// commands print what() and exit with 1.
struct output_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Checks before a long run that a report can be written to `file`; an empty path is no report.
/// \throws config_error; file_error when `file` is an input of the command
void check_report(const std::filesystem::path& file);

/// Writes the whole report or nothing: the file gets its name when it is complete, so that an older
/// file survives a full disk. Devices and pipes are written directly. \throws output_error
void write_report(const std::filesystem::path& file, std::string_view text);

/// Flushes standard output at the end of a command. \throws output_error when printed text was lost
/// there or on standard error
void finish_standard_output();

}  // namespace trn

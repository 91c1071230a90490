// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <stdexcept>
#include <string_view>

namespace trn {

/// Output is lost: a full disk, a limit of the operating system. Not a mistake of the user's:
/// commands print what() and exit with 1.
struct output_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Before a long run: whether a report can be written there. An empty path is none.
/// \throws config_error, file_error when it is an input of the command
void check_report(const std::filesystem::path& file);

/// Writes all of a report or nothing: it takes its name when it is complete, so that what was there
/// before stays when there is no room. A device or pipe is written to directly.
/// \throws output_error
void write_report(const std::filesystem::path& file, std::string_view text);

/// Flushes standard output at the end of a command.
/// \throws output_error when anything that was printed there or on standard error is lost
void finish_standard_output();

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>

namespace trn {

/// Before a long run: whether a report can be written there. An empty path is none.
/// \throws config_error
void check_report(const std::filesystem::path& file);

/// Writes all of a report or nothing: it takes its name when it is complete, so that what was there
/// before stays when there is no room. A device or pipe is written to directly.
/// \throws config_error
void write_report(const std::filesystem::path& file, std::string_view text);

}  // namespace trn

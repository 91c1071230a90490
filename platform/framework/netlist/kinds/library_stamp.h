// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace trn {

/// Why this file is no library with kinds for a program with this `stamp`; nothing if it is one.
/// Reads the stamp from the file: nothing of the library runs.
std::optional<std::string> refuse_by_stamp(const std::filesystem::path& file,
                                           const std::string& stamp);

}  // namespace trn

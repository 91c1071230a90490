// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>

namespace trn {

/// Makes a folder, and its missing parents, that only this user can open, independent of the umask.
/// An existing folder keeps its mode. \throws std::system_error
void make_private_folder(const std::filesystem::path& folder);

/// Writes a new file that only this user can open, in place of a file or link of that name.
/// \throws std::system_error
void write_private_file(const std::filesystem::path& file, std::string_view bytes);

}  // namespace trn

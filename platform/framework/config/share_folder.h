// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <initializer_list>
#include <string>

namespace trn {

/// The folder with the project's boards or firmware (`name`), the first one that has `content`: of
/// `built`, relative to the program; of the installation that the program is in; of the one that
/// set_share_folder() named. "" without any.
std::filesystem::path share_folder(const std::string& name,
                                   std::initializer_list<const char*> built,
                                   const std::string& content);

/// The share/trnvp of the installation that a program elsewhere was built with. \returns true
bool set_share_folder(const std::filesystem::path& folder);

}  // namespace trn

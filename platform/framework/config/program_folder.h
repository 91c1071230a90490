// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace trn {

/// The folder from which boards and firmware are found: that of the program, until it is set.
std::filesystem::path program_folder();
/// Of a library in the process of another program: its folder.
void set_program_folder(const std::filesystem::path& folder);

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace trn::scenario {

/// A program set that names its source files from the scenario's folder: traces have these names,
/// and are the same wherever the folder lies. Files outside keep their names. \throws
/// isa::program_set_error when it is not a program set
std::vector<std::uint8_t> with_files_named_from(const std::filesystem::path& folder,
                                                const std::vector<std::uint8_t>& set);

}  // namespace trn::scenario

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace trn::scenario {

/// Rewrites the source file names of a program set relative to the scenario's folder, so that
/// traces do not depend on its location. Files outside keep their names. \throws
/// isa::program_set_error when `set` is not a program set
std::vector<std::uint8_t> with_files_named_from(const std::filesystem::path& folder,
                                                const std::vector<std::uint8_t>& set);

}  // namespace trn::scenario

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "models/neuron_isa/assembler/program_set.h"

namespace trn::scenario {

/// Reads a program set and names its source files relative to the scenario's folder: traces have
/// these names, and do not depend on where the folder is. Files outside keep their names.
/// \throws isa::program_set_error when `set` is not a program set
isa::program_set read_named_from(const std::filesystem::path& folder,
                                 std::span<const std::uint8_t> set);

}  // namespace trn::scenario

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include "sw-stubs/collectives/include/trn_coll.h"

namespace trn {

/// Reads a table that says which algorithm a collective gets (doc/collectives.md).
/// \throws config_error with everything that is wrong in it
std::vector<trn_coll_rule> read_collective_rules(const std::filesystem::path& file);

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <vector>

#include "sw-stubs/collectives/include/trn_coll.h"

namespace trn {

/// Reads a table that selects the algorithm of a collective (doc/collectives.md). \throws
/// config_error with all errors in the file
std::vector<trn_coll_rule> read_collective_rules(const std::filesystem::path& file);

}  // namespace trn

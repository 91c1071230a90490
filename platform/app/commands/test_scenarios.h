// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "platform/app/commands/test_options.h"
#include "platform/app/regression/record.h"
#include "platform/app/scenario/scenario.h"
#include "platform/framework/tlm/bandwidth_resource.h"

namespace trn {

struct test_scenarios {
    std::vector<scenario::scenario> mine;  ///< the scenarios that this process runs
    std::vector<std::string> whole;        ///< run_identity() of the scenarios of all shards
};

/// Reads and checks all files, and selects the scenarios to run. \throws config_error, user_error
test_scenarios read_scenarios(const test_options& chosen);

/// Checks that no two output files are the same, and that none is an input file. \throws
/// user_error, config_error
void check_outputs(const test_options& chosen, const std::vector<scenario::scenario>& all);

/// The programs that processors of the boards may execute.
std::vector<std::filesystem::path> programs_of_all(const std::vector<scenario::scenario>& all);

/// Digests and pictures of all scenarios' boards, by board_key().
std::map<std::string, regression::run_record::board> boards_of(
    const test_options& chosen, const std::vector<scenario::scenario>& all);

timing_mode timing_of(const test_options& chosen);

}  // namespace trn

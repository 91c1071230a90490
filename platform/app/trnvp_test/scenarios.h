// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "platform/app/regression/records/record.h"
#include "platform/app/scenario/language/scenario.h"
#include "platform/app/trnvp_test/options.h"
#include "platform/framework/tlm/bandwidth_resource.h"

namespace trn {

struct test_scenarios {
    std::vector<scenario::scenario> mine;  ///< the scenarios that this process runs
    std::vector<std::string> whole;        ///< run_identity() of the scenarios of all shards
};

/// Reads and checks all files, and selects the scenarios to run. Mistakes in files are in their
/// scenarios; with --strict they are thrown. \throws config_error, user_error
test_scenarios read_scenarios(const test_options& chosen);

/// Checks that no two output files of all runs are the same, and that none is an input file.
/// \throws user_error, config_error, file_error
void check_outputs(const test_options& chosen, const std::vector<scenario::scenario>& all);

/// The output file of one of several runs: `file` with the run's number before the extension.
std::filesystem::path file_of_run(const std::filesystem::path& file, std::size_t number,
                                  std::size_t runs);

/// The programs that processors of the boards may execute.
std::vector<std::filesystem::path> programs_of_all(const std::vector<scenario::scenario>& all);

/// Digests and pictures of all scenarios' boards, by board_key().
std::map<std::string, regression::run_record::board> boards_of(
    const test_options& chosen, const std::vector<scenario::scenario>& all);

timing_mode timing_of(const test_options& chosen);

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "platform/app/regression/records/record.h"

namespace trn::regression {

/// One workflow command of GitHub Actions per failed scenario, one per line, with the place in the
/// scenario's file. GitHub shows at most ten per step.
std::string to_github(const run_record& run);

/// A code quality report of GitLab, which a merge request shows at the lines concerned.
std::string to_gitlab(const run_record& run);

}  // namespace trn::regression

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "platform/app/regression/record.h"

namespace trn::regression {

/// A workflow command of GitHub Actions per failed scenario, a line each, which it shows at the
/// line of the file. GitHub shows ten of a step.
std::string to_github(const run_record& run);

/// A code quality report of GitLab: what it shows at the lines of a merge request.
std::string to_gitlab(const run_record& run);

}  // namespace trn::regression

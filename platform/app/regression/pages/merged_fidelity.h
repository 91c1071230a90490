// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "platform/app/regression/records/record.h"

namespace trn::regression {

/// Merges the fidelity reports of all runs: reads and writes are added, `modules` is the maximum,
/// `runs` is the number of runs. Null when no run has a report. \throws file_error for a report
/// with another format
nlohmann::json merged_fidelity(const run_record& run);

}  // namespace trn::regression

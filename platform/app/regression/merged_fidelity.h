// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

#include "platform/app/regression/record.h"

namespace trn::regression {

/// The registers that all runs together touched: reads and writes are added, `modules` is the
/// largest of one run, `runs` counts the runs. Null when no run has a fidelity report.
/// \throws file_error for a result whose report has another form
nlohmann::json merged_fidelity(const run_record& run);

}  // namespace trn::regression

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platform/app/regression/records/record.h"
#include "platform/app/trnvp_test/options.h"
#include "platform/app/trnvp_test/scenarios.h"

namespace trn {

/// Runs the scenarios on this machine and prints their results. With --report the record is
/// written while they run. After a first_signal it lacks what had not ended, and is not complete.
/// \throws config_error, user_error, file_error, output_error
regression::run_record run_here(const test_options& chosen, const test_scenarios& all);

/// The record of a run before its first result.
regression::run_record begin_record(const test_options& chosen, const test_scenarios& all);

}  // namespace trn

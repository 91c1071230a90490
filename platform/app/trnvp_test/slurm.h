// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platform/app/regression/records/record.h"
#include "platform/app/trnvp_test/options.h"
#include "platform/app/trnvp_test/scenarios.h"

namespace trn {

struct slurm_result {
    regression::run_record run;
    int signal = 0;  ///< the signal that ended the run; 0: none
};

/// Runs the scenarios as a Slurm job array with one shard per task, until a first_signal, and
/// prints results as they arrive. A shard whose node failed runs again, at most twice. \throws
/// user_error, file_error
slurm_result run_on_slurm(const test_options& chosen, const test_scenarios& all);

}  // namespace trn

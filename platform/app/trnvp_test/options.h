// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "platform/app/hart_option.h"
#include "platform/app/protocol_option.h"
#include "platform/app/scenario/selection/selection.h"
#include "platform/app/wave_options.h"
#include "platform/framework/misuse/policy.h"

namespace trn {

/// Options of `trnvp test`.
struct test_options {
    std::vector<std::string> scenarios;
    std::filesystem::path junit, html, trace, fidelity_report, coverage;
    std::filesystem::path report, durations, history;  ///< folder, file, folder
    wave_options waves;
    std::string timing = "contended";
    unsigned jobs = 0;
    misuse::choices misuse;
    hart_choice hart;
    std::vector<std::string> kind_libraries;
    protocol_choice protocol;
    scenario::selection selected;
    bool json = false, quiet = false, list = false, digest = false, share = true;
    bool slurm = false, strict = false;
    std::string partition, annotate;
    std::vector<std::string> forwarded;  ///< options for each shard of --slurm
    std::string options;                 ///< see scenario::description::options
    /// "": no; last_results: what failed when it last ran; else a record.
    std::string rerun_failed;
    static constexpr auto last_results = "true";  ///< the flag without a value
    bool until_fail = false, schema = false, steps = false;
};

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "platform/app/regression/record.h"

namespace trn::regression {

struct comparison_limits {
    double noise_percent = 5;    ///< of a figure, around the range of its values
    double slower_percent = 50;  ///< of a duration
    double slower_min_s = 0.5;   ///< a duration that grew by less is no finding
};

/// What is different in a newer run: one line for each finding.
struct comparison {
    std::vector<std::string> newly_failing, newly_passing, missing, added, digests, figures,
        durations;
    bool other_build = false;

    std::string text() const;
};

comparison compare(const run_record& old_run, const run_record& new_run,
                   const comparison_limits& limits);

}  // namespace trn::regression

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "platform/app/regression/records/record.h"

namespace trn::regression {

struct comparison_limits {
    double noise_percent = 5;    ///< tolerance of a figure, around the range of its values
    double slower_percent = 50;  ///< tolerance of a duration
    double slower_min_s = 0.5;   ///< smaller increases of a duration are not reported
};

/// Differences between an older and a newer run; one line per finding.
struct comparison {
    std::vector<std::string> newly_failing, failing_elsewhere, newly_passing, missing, added,
        digests, figures, durations;
    bool other_build = false;

    std::string text() const;
};

comparison compare(const run_record& old_run, const run_record& new_run,
                   const comparison_limits& limits);

}  // namespace trn::regression

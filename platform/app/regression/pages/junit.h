// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "platform/app/regression/records/record.h"

namespace trn::regression {

/// JUnit XML for build servers: a `testcase` per scenario, including those that did not run.
std::string to_junit(const run_record& run);

/// One object per run: name, file, place_file (of line and column: the file itself, or an included
/// one), line, column, status, message, step, first_step_s, wall_s,
/// simulated_ns, trace_digest, figures.
nlohmann::json to_json(const run_record& run);

/// "DIGEST  FILE: NAME" per run; nothing for runs without a digest.
std::string to_digests(const run_record& run);

/// All figures as CSV: file, scenario, figure, value, unit, at least, at most.
std::string to_figures(const run_record& run);

}  // namespace trn::regression

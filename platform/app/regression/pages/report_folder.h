// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "platform/app/regression/history/history.h"
#include "platform/app/regression/records/record.h"

namespace trn::regression {

/// Writes all reports of a run into a folder: report.xml (JUnit), index.html with its pages, and,
/// if the run has them, coverage.info (LCOV), digests.txt, figures.csv and fidelity.json. The run
/// must not be a shard. A report that cannot be written does not prevent the others. \returns "" or
/// one line per report that could not be written
std::string write_reports(const std::filesystem::path& folder, const run_record& run,
                          const history& past = {});

}  // namespace trn::regression

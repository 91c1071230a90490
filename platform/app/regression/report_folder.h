// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "platform/app/regression/history.h"
#include "platform/app/regression/record.h"

namespace trn::regression {

/// Writes every report of a run that has a complete list of scenarios into a folder: report.xml
/// (JUnit), index.html with its pages, and where the run has them coverage.info (LCOV),
/// digests.txt, figures.csv and fidelity.json. A report that cannot be written does not
/// prevent the others. \returns "" or a sentence for each lost report, a line each
std::string write_reports(const std::filesystem::path& folder, const run_record& run,
                          const history& past = {});

}  // namespace trn::regression

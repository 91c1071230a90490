// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "platform/app/regression/history/history.h"
#include "platform/app/regression/records/record.h"

namespace trn::regression {

/// A single HTML page without external files: a table of the scenarios with filters, failures
/// first; for each scenario its steps over simulated time and the end of its log; the pictures of
/// the boards. Output of guests and contents of files are escaped.
std::string to_html(const run_record& run, const history& past = {});

/// The report as several pages in a folder: index.html, pages/NAME.html for each scenario,
/// pages/BOARD.svg. File names are the same in every run. \returns "" or one line per page that
/// could not be written
std::string write_pages(const std::filesystem::path& folder, const run_record& run,
                        const history& past);

}  // namespace trn::regression

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "platform/app/regression/history.h"
#include "platform/app/regression/record.h"

namespace trn::regression {

/// One page of HTML that needs nothing else: a table of the scenarios that can be filtered,
/// failures first, of each its steps over simulated time and the end of its log, and the boards'
/// pictures. Output of guests and contents of files are escaped.
std::string to_html(const run_record& run, const history& past = {});

/// The same as several pages in a folder: index.html, pages/NAME.html with all of one scenario,
/// pages/BOARD.svg. Their names stay the same in every run.
/// \returns "" or sentences about the lost pages, a line each
std::string write_pages(const std::filesystem::path& folder, const run_record& run,
                        const history& past);

}  // namespace trn::regression

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "platform/app/regression/history/history.h"

namespace trn::regression {

/// One bar per run, oldest first, as SVG: green passed, red failed.
std::string result_strip(const std::vector<past_result>& runs);

/// A line chart of the values, oldest first, with a dot at the last; "" for fewer than two values.
std::string sparkline(const std::vector<double>& values, const std::string& title);

}  // namespace trn::regression

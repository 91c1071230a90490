// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "platform/app/regression/history.h"
#include "platform/app/regression/record.h"

namespace trn::regression {

/// The name of a scenario in links: "wrong-rings-1f0c22aa", the same in every run.
std::string link_name(const scenario::description& what);

/// What a page says of a scenario below its name: the failure, the command that repeats it, its
/// figures, its past runs, its steps over simulated time and the end of its log.
std::string scenario_details(const row& runs, const history& past);

/// Where and why it failed; "" when it passed.
std::string failure_text(const row& runs);

}  // namespace trn::regression

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "platform/app/regression/history/history.h"
#include "platform/app/regression/records/record.h"

namespace trn::regression {

/// Name of a scenario in links: "wrong-rings-1f0c22aa". It is the same in every run.
std::string link_name(const scenario::description& run);

/// The details of a scenario: failure, command that repeats it, figures, past runs, steps over
/// simulated time, and the end of its log.
std::string scenario_details(const row& runs, const history& past);

/// Place and message of the failure; "" for a passed scenario.
std::string failure_text(const row& runs);

}  // namespace trn::regression

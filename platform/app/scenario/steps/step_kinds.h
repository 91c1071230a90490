// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "platform/app/scenario/language/parameters.h"
#include "platform/app/scenario/language/step.h"
#include "platform/app/scenario/language/step_table.h"

namespace trn::scenario {

/// All kinds of steps, in the order of the document.
const std::vector<step_kind>& step_kinds();
/// The kind of this name; nullptr: there is none.
const step_kind* find_step(std::string_view name);

/// Reads one item of `steps`. Steps that contain steps are read by scenario_files.
step read_step(const config::node& item, const parameters& point);

}  // namespace trn::scenario

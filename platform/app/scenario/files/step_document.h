// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "platform/app/scenario/language/step_table.h"

namespace trn::scenario {

/// What a kind of step does, and a line or two for each key, for a terminal.
std::string step_text(const step_kind& kind);

/// All kinds of steps with the properties of their keys, for doc/steps.md.
nlohmann::ordered_json steps_json();

}  // namespace trn::scenario

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace trn::scenario {

/// JSON schema of scenario files for editors, made from the tables of steps (step_table.h).
nlohmann::json schema();

/// The tables of steps in Markdown, for doc/scenarios.md.
std::string step_document();

}  // namespace trn::scenario

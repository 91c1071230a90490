// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace trn::scenario {

/// The JSON schema of scenario files, for editors; of steps, from their tables (step_table.h).
nlohmann::json schema();

/// The same tables as rows of Markdown, for doc/scenarios.md.
std::string step_document();

}  // namespace trn::scenario

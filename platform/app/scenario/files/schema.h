// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>

namespace trn::scenario {

/// JSON schema of scenario files for editors, made from the tables of steps (step_table.h).
nlohmann::json schema();

}  // namespace trn::scenario

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "platform/attach/control/control.h"

namespace trn {

/// The registers of all modules for tools: `list registers`, the method `registers`, and `peek` and
/// `poke` of a register or a field by its name.
void add_register_methods(control& methods);

/// Every register of the module's banks, as `inspect` shows them; an empty array when it has none.
nlohmann::json registers_of(const std::string& module);

}  // namespace trn

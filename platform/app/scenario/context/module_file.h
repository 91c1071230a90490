// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "platform/app/scenario/context/scenario_context.h"

namespace trn::scenario {

/// The file is copied to a host inside: if that loads it as a module, it has its symbols.
void add_module_file(const scenario_context& ctx, const std::filesystem::path& file);

}  // namespace trn::scenario

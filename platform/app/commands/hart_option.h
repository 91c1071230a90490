// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace trn {

/// --hart interpret|translate|check: takes effect when the command line is parsed, before harts
/// exist.
void add_hart_option(CLI::App& command);

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace trn {

/// Adds --hart interpret|translate|check. The choice takes effect during parsing, before harts
/// exist.
void add_hart_option(CLI::App& command);

}  // namespace trn

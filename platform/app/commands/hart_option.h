// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platform/framework/command_line/options.h"

namespace trn {

/// Adds --hart interpret|translate|check. The choice takes effect during parsing, before harts
/// exist.
void add_hart_option(cli::command& command);

}  // namespace trn

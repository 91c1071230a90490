// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platform/framework/command_line/options.h"

namespace trn {

/// `trnvp help NAME`: explains a step of scenarios, a kind of module or a misuse rule.
void add_help(cli::command* command, int& status);

}  // namespace trn

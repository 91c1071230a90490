// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platform/framework/command_line/options.h"

namespace trn {

/// `trnvp boards [--json]`: lists the boards. `status` is 0.
void add_boards(cli::command* command, int& status);

}  // namespace trn

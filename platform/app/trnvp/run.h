// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platform/framework/command_line/options.h"

namespace trn {

/// `trnvp run BOARD`: builds a board, boots it and serves it. Sets `status` to 0, 1 for a failed
/// run (--until not reached, a stall, a misuse rule that fails the run), 2 for an error of the
/// user.
void add_run(cli::command* c, int& status);

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platform/framework/command_line/options.h"

namespace trn {

/// `trnvp exec PROGRAM`: harts, RAM, ACLINT and PLIC at Spike's addresses, Spike's HTIF. Sets
/// `status` to the program's exit status, 1 for a failed run, 2 for an error of the user.
void add_exec(cli::command* command, int& status);

}  // namespace trn

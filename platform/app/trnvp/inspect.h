// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platform/framework/command_line/options.h"
#include "platform/framework/netlist/kinds/kind.h"

namespace trn {

/// `trnvp inspect BOARD|KIND`: prints a board's tree, parameters and address maps, or the
/// description of a kind, without building the board. Sets `status` to 0, or 2 for an error of the
/// user.
void add_inspect(cli::command* command, int& status);

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "platform/framework/command_line/options.h"
#include "platform/framework/netlist/kinds/kind.h"

namespace trn {

/// `trnvp inspect BOARD|KIND`: prints a board's tree, parameters and address maps, or the
/// description of a kind, without building the board. Sets `status` to 0, or 2 for an error of the
/// user.
void add_inspect(cli::command& app, int& status);

/// Parameters and ports of a kind, for a terminal.
std::string kind_text(const kind& k);

}  // namespace trn

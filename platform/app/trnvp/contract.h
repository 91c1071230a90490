// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platform/framework/command_line/options.h"

namespace trn {

/// `trnvp contract KIND`: builds one module of a kind alone, and checks its registers through its
/// socket against their table or a description. Sets `status` to 0; 1: violations; 2: an error of
/// the user.
void add_contract(cli::command* command, int& status);

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platform/framework/command_line/options.h"

namespace trn {

/// `trnvp test SCENARIO...`: runs each scenario in its own process. Sets `status` to 0, 1 when a
/// scenario failed, 2 for an error of the user.
void add_test(cli::command* c, int& status);

}  // namespace trn

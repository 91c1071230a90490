// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platform/framework/command_line/options.h"

namespace trn {

/// `trnvp report`: merges and compares reports of several runs (doc/regression.md).
void add_report(cli::command* c, int& status);

}  // namespace trn

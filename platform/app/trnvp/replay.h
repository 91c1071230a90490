// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platform/framework/command_line/options.h"

namespace trn {

/// `trnvp replay`: repeats a recorded session with no host attached (doc/recording.md).
void add_replay(cli::command* c, int& status);

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platform/framework/command_line/options.h"

namespace trn {

/// completion: prints the script that a shell reads; with a line, what its last word can be:
/// subcommands and options of `app`, and with --connect names of the platform, such as those of
/// modules and their faults. "NAME=" for arguments.
void add_completion(cli::command& app);

}  // namespace trn

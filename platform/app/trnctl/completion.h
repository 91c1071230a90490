// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "platform/framework/command_line/completion.h"
#include "platform/framework/command_line/options.h"

namespace trn {

/// completion: prints the script that a shell reads.
void add_completion(cli::command& app);

/// Words for --complete: boards, and with --connect names of the platform, such as those of modules
/// and their faults. "NAME=" for arguments.
std::vector<cli::candidate> trnctl_words(const cli::unfinished_line& line);

}  // namespace trn

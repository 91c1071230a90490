// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "platform/framework/command_line/options.h"

namespace trn {

/// What the last word of an unfinished command line can be: subcommands and options of `app`; and
/// with --connect names of the platform, such as those of modules and their faults. "NAME=" for
/// arguments.
std::vector<std::string> completions(cli::command& app, std::string_view line);

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "platform/framework/command_line/options.h"
#include "platform/framework/misuse/policy.h"

namespace trn {

/// Adds --misuse and --misuse-allow, which may be given several times. Apply the choices before the
/// run.
void add_misuse_options(cli::command& command, misuse::choices& chosen);

/// Prints the counts of violations per chip on standard error, at the end of a run.
void print_misuse(const std::vector<std::string>& chips);

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "platform/framework/command_line/options.h"
#include "platform/framework/misuse/policy.h"

namespace trn {

/// Adds --misuse, which may be given several times. Apply the choices in order before the run.
void add_misuse_option(cli::command& command, std::vector<misuse::policy_choice>& choices);
void apply(const std::vector<misuse::policy_choice>& choices);

/// Prints the counts of violations per chip on standard error, at the end of a run.
void print_misuse(const std::vector<std::string>& chips);

}  // namespace trn

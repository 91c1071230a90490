// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "platform/framework/misuse/policy.h"

namespace trn {

/// --misuse of a command, any number of times: choices to apply in order before the run.
void add_misuse_option(CLI::App& command, std::vector<misuse::policy_choice>& choices);
void apply(const std::vector<misuse::policy_choice>& choices);

/// Prints the counts by chip at the end of a run, on standard error.
void print_misuse(const std::vector<std::string>& chips);

}  // namespace trn

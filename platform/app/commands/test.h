// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace trn {

/// `trnvp test SCENARIO...`: runs scenarios, each in a process of its own. `status` becomes 0, 1
/// when one failed, 2 for a user's mistake.
void add_test(CLI::App& app, int& status);

}  // namespace trn

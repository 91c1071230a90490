// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace trn {

/// `trnvp boards [--json]`: lists the boards. `status` is 0.
void add_boards(CLI::App& app, int& status);

}  // namespace trn

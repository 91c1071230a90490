// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace trn {

/// `trnvp inspect BOARD|KIND`: a board's tree, parameters and address maps, or the description of a
/// kind; builds nothing. `status` is 0, or 2 for a user's mistake.
void add_inspect(CLI::App& app, int& status);

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace trn {

/// `trnvp inspect BOARD|KIND`: prints a board's tree, parameters and address maps, or the
/// description of a kind, without building the board. Sets `status` to 0, or 2 for an error of the
/// user.
void add_inspect(CLI::App& app, int& status);

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace trn {

/// `trnvp guest`: a Linux guest in QEMU with a board's functions, to its end. Exit status: the
/// guest's, 2 for a mistake on the command line, 77 when this machine has no suitable QEMU.
void add_guest(CLI::App& app, int& status);

}  // namespace trn

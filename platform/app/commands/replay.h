// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace trn {

/// `trnvp replay`: repeats a recorded session with no host attached (doc/recording.md).
void add_replay(CLI::App& app, int& status);

}  // namespace trn

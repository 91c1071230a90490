// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace trn {

/// `trnvp report`: merges and compares reports of several runs (doc/regression.md).
void add_report(CLI::App& app, int& status);

}  // namespace trn

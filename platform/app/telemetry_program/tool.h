// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "platform/app/telemetry/sources/state_source.h"
#include "platform/framework/command_line/options.h"

namespace trn::telemetry {

/// The options --connect, --sysfs, --file, --at and --token-file.
void add_source_options(cli::command& app, source_choice& chosen);

/// Parses the command line and runs `work`, which returns the status. Prints what went wrong.
/// \returns 0; 1: no devices, or the source has ended; 2: a wrong command line
int run_tool(cli::command& app, const std::string& name, int argc, char** argv,
             const std::function<int()>& work);

/// Columns and rows of the terminal at standard output; 0 if it is none.
struct terminal_size {
    unsigned columns = 0, rows = 0;
};
terminal_size size_of_terminal();
/// Whether standard output is a terminal that may be coloured.
bool is_coloured();

/// Set by SIGINT or SIGTERM, after end_on_signals().
bool should_end();
void end_on_signals();
/// Waits for `seconds`, or until a signal or a key: of the descriptor `keys`, if it is not -1.
/// Returns whether there is a key.
bool wait_for(double seconds, int keys = -1);

}  // namespace trn::telemetry

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "platform/framework/command_line/options.h"

namespace trn {

/// Whether calls between models are checked against the base protocol.
struct protocol_choice {
    std::string policy = {};  ///< "": that of the build

    /// To be called before the board is built.
    void apply() const;
};

/// Adds --check-protocol.
void add_protocol_option(cli::command& command, protocol_choice& choice);

/// Prints the violations on standard error, at the end of a run.
void print_protocol_violations();

}  // namespace trn

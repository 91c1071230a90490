// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <stdexcept>
#include <string>

#include "platform/platform.h"

namespace trn {

/// What the user said wrong on the command line, in one sentence.
struct user_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// How a command builds and drives its board: what `run` and `guest` have in common.
struct board_options {
    platform_options build;
    std::string timing = "contended";
    std::string policy = "free";

    void add_to(CLI::App& command);
    /// \throws user_error
    platform_options checked() const;
};

}  // namespace trn

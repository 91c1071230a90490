// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "platform/framework/command_line/options.h"

namespace trn {

/// How harts execute.
struct hart_choice {
    std::string mode = "translate";
    bool perf_map = false;

    /// Call before harts exist.
    void apply() const;
};

/// Adds --hart interpret|translate|check and --perf-map.
void add_hart_option(cli::command& command, hart_choice& choice);

}  // namespace trn

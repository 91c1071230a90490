// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "platform/framework/netlist/plan/parameter_origin.h"

namespace trn {

/// What a plan depends on besides its file.
struct plan_options {
    std::filesystem::path boards;  ///< folder of assemblies, searched after that of the naming file
    std::vector<std::string> set;  ///< values for the board's parameters, "name=value"
    trn::on_origin on_origin = {};  ///< may be empty
    /// The file, a board or an assembly, becomes a part of something else: its ports stay open, and
    /// are plan::ports.
    bool open = false;
    /// Of `set`, for errors.
    struct source {
        std::string file = "command line";
        int line = 0, column = 0;
    };
    source place = {};
};

}  // namespace trn

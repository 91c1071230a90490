// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "platform/framework/command_line/options.h"
#include "platform/framework/netlist/kinds/kind.h"

namespace trn {

/// Adds --kinds LIBRARY, which loads kinds of users beside the `known` ones
/// (platform/framework/netlist/kinds/loaded_kinds.h). `libraries` are their paths as given.
void add_kinds_option(cli::command& command, std::vector<std::string>& libraries,
                      const kind_list& known);

}  // namespace trn

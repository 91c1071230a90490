// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "platform/app/telemetry/machine_state.h"

namespace trn::telemetry {

struct ls_options {
    bool wide = false;           ///< longer commands, and the state of each device
    bool all_processes = false;  ///< also tools
    bool coloured = false;
    std::size_t columns = 0;  ///< of the terminal; 0: lines are not cut
};

/// The table of neuron-ls for each instance.
std::string ls_table(const machine_state& state, const ls_options& options);

/// "instance-type: trn2.48xlarge" and the other lines before the table.
std::string ls_head(const machine_state& state, const instance& machine);

}  // namespace trn::telemetry

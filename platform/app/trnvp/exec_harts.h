// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "models/processor/riscv/riscv_hart.h"
#include "platform/app/exec/exec_machine.h"
#include "platform/framework/command_line/options.h"

namespace trn {

/// The harts of `trnvp exec`, as options choose them.
struct exec_harts {
    unsigned count = 1;
    std::vector<std::string> delays, clocks;  ///< "1=300 ns": of a hart
    std::uint64_t schedule_seed = 0;

    /// The settings of each hart, beginning with `all`. Throws user_error for a hart that does not
    /// exist, and for times out of range.
    std::vector<exec_machine::hart_config> settings(const riscv_hart::config& all) const;
};

/// Adds --harts, --hart-delay, --hart-clock and --schedule-seed.
void add_exec_harts(cli::command& command, exec_harts& harts);

}  // namespace trn

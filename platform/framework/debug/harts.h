// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "platform/framework/attach/control/control.h"
#include "platform/framework/kernel/debug_target.h"

namespace trn {

/// A hart with its numbers for debuggers: chips are processes, harts are threads, both counted from
/// 1.
struct debug_hart {
    debug_target* target;
    std::string name;  ///< "chip0.mgmt.hart"
    unsigned process;
    unsigned thread;  ///< unique among all harts
};

/// All harts in construction order.
std::vector<debug_hart> find_harts();

/// Adds "harts" to the method `list`, and the virtual memory of each hart to the address spaces.
/// Call it after elaboration.
void add_harts(control& methods);

}  // namespace trn

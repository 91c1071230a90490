// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "platform/framework/kernel/debug_target.h"

namespace trn::gdb {

/// The target description for GDB: the registers of `hart` (GDB manual, "RISC-V Features"), without
/// CSRs that the hart does not implement.
std::string target_description(debug_target& hart);

}  // namespace trn::gdb

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "platform/framework/kernel/debug_target.h"

namespace trn::gdb {

/// The target description that tells GDB which registers `hart` has (GDB manual, "RISC-V
/// Features"). CSRs that the hart does not have are left out.
std::string target_description(debug_target& hart);

}  // namespace trn::gdb

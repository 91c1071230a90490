// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "platform/framework/registers/table.h"

namespace trn {

/// The table of every block that has a *.regs.yaml, by name of block (target trn_register_tables).
std::span<const register_table* const> all_register_tables();

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platform/framework/netlist/kinds/kind.h"

namespace trn {

/// All kinds that a board can name.
const kind_list& kinds();

}  // namespace trn

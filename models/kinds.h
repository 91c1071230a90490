// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platform/framework/netlist/kind.h"

namespace trn {

/// Everything a board may name.
const kind_list& kinds();

}  // namespace trn

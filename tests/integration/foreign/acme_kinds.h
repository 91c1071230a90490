// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "platform/framework/netlist/kinds/kind.h"

namespace acme {

/// The project's kinds, and those of the foreign models.
const trn::kind_list& kinds();

}  // namespace acme

// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include "platform/framework/netlist/kinds/kind_library.h"

static trn::kind broken() {
    throw std::runtime_error("no licence for this block");
}
TRNVP_KINDS(broken())

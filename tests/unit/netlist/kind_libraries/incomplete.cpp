// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/netlist/kinds/kind_library.h"

static trn::kind without_module() {
    trn::kind made;
    made.name = "unfinished";
    return made;
}
TRNVP_KINDS(without_module())

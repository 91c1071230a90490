// SPDX-License-Identifier: Apache-2.0
// Uses a function that its program does not have.
#include "platform/framework/netlist/kinds/kind_library.h"

namespace example {

trn::kind made_elsewhere(int number);

}  // namespace example

TRNVP_KINDS(example::made_elsewhere(1))

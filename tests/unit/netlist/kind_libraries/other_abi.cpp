// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/netlist/kinds/kind_library.h"

extern "C" {
extern __attribute__((visibility("default"))) const trn::kind_library trnvp_kinds;
const trn::kind_library trnvp_kinds{nullptr};
__attribute__((section(TRNVP_KINDS_SECTION), used)) const char trnvp_kinds_stamp[] = "trnvp-0.0.1";
}

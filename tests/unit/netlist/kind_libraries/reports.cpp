// SPDX-License-Identifier: Apache-2.0
#include <systemc>

#include "platform/framework/netlist/kinds/kind_library.h"

namespace {

trn::kind broken() {
    SC_REPORT_ERROR("block", "no licence for this block");
    return {};
}

}  // namespace

TRNVP_KINDS(broken())

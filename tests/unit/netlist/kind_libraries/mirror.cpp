// SPDX-License-Identifier: Apache-2.0
#include <systemc>

#include "platform/framework/netlist/kinds/kind_library.h"
#include "platform/framework/netlist/kinds/kind_table.h"

namespace {

struct mirror : sc_core::sc_module {
    struct config {
        bool is_round = false;
    };
    mirror(const sc_core::sc_module_name& name, const config&) : sc_module(name) {}
};

}  // namespace

TRNVP_KINDS(trn::kind_of<mirror>(MIRROR, "Reflects nothing.",
                                 {{"is_round", &mirror::config::is_round, "its shape"}}, {}))

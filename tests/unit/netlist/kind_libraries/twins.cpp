// SPDX-License-Identifier: Apache-2.0
// Two kinds of one name.
#include <systemc>

#include "platform/framework/netlist/kinds/kind_library.h"
#include "platform/framework/netlist/kinds/kind_table.h"

namespace {

struct twin : sc_core::sc_module {
    struct config {};
    twin(const sc_core::sc_module_name& name, const config&) : sc_module(name) {}
};

trn::kind twin_kind() {
    return trn::kind_of<twin>("twin", "One of two.", {}, {});
}

}  // namespace

TRNVP_KINDS(twin_kind(), twin_kind())

// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include "platform/framework/netlist/kinds/kind_library.h"

namespace {

struct licence {
    licence() { throw std::runtime_error("no licence for this block"); }
} const checked_when_loaded;

}  // namespace

TRNVP_KINDS(trn::kind())

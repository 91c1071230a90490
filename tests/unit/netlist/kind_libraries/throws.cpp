// SPDX-License-Identifier: Apache-2.0
#include <exception>

#include "platform/framework/netlist/kinds/kind_library.h"

namespace {

struct no_licence : std::exception {
    const char* what() const noexcept override { return "no licence for this block"; }
};

trn::kind broken() {
    throw no_licence();
}

}  // namespace

TRNVP_KINDS(broken())

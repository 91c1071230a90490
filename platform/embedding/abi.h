// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trnvp_abi.h"

/// A program that is compiled with the headers of one build and linked with the library of another
/// does not link: this symbol is undefined. Its value is TRNVP_ABI, the stamp of libraries with
/// kinds too (platform/framework/netlist/kinds/kind_library.h).
extern "C" const char TRNVP_ABI_SYMBOL[];

namespace trn {

[[gnu::used]] static const char* const abi_of_headers = TRNVP_ABI_SYMBOL;

}  // namespace trn

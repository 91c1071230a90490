// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <systemc>

#include "platform/framework/netlist/kinds/kind.h"
#include "trnvp_abi.h"

#define TRNVP_TEXT_OF(number) #number
#define TRNVP_TEXT(number) TRNVP_TEXT_OF(number)
/// Of the headers, SystemC and the compiler. A library has the stamp in a section of its file, from
/// which a program reads it before it loads the library; it refuses one with another stamp.
#define TRNVP_KINDS_STAMP            \
    TRNVP_ABI " systemc-" SC_VERSION \
              " c++" TRNVP_TEXT(__cplusplus) " abi" TRNVP_TEXT(__GXX_ABI_VERSION)
#define TRNVP_KINDS_SECTION ".trnvp_kinds"

namespace trn {

/// A shared library with kinds of its own exports one of these as `trnvp_kinds`; TRNVP_KINDS
/// defines it, and the stamp. Page: doc/own-block.md.
struct kind_library {
    kind_list (*kinds)();
};

}  // namespace trn

/// In one source of a library: TRNVP_KINDS(my_kind(), my_other_kind())
#define TRNVP_KINDS(...)                                                                 \
    extern "C" {                                                                         \
    extern __attribute__((visibility("default"))) const trn::kind_library trnvp_kinds;   \
    const trn::kind_library trnvp_kinds{[] { return trn::kind_list{__VA_ARGS__}; }};     \
    extern __attribute__((visibility("default"))) const char trnvp_kinds_stamp[];        \
    __attribute__((section(TRNVP_KINDS_SECTION), used)) const char trnvp_kinds_stamp[] = \
        TRNVP_KINDS_STAMP;                                                               \
    }

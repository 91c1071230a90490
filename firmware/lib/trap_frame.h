// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdint.h>

/// The interrupted program, as trap_entry (trap_entry.S) saves it.
struct trap_frame {
    uint64_t x[32];  ///< x[0] is unused
    uint64_t pc;
    uint64_t cause;
    uint64_t value;
};

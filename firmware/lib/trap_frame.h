// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdint.h>

/// State of the interrupted program, saved by trap_entry (trap_entry.S).
struct trap_frame {
    uint64_t x[32];  ///< x[0] is unused
    uint64_t pc;
    uint64_t cause;
    uint64_t value;
};

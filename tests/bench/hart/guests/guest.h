// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdint.h>

// ROUNDS: number of rounds of a guest; EXPECTED: its result after them, 0 if unknown.
#ifndef EXPECTED
#define EXPECTED 0
#endif

/// The exit status: 0 when the result is as expected.
static inline int check(uint32_t result) {
    return EXPECTED == 0 || result == EXPECTED ? 0 : 1;
}

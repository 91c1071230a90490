// SPDX-License-Identifier: Apache-2.0
// For programs of several harts.
#pragma once

#include <stdint.h>

extern volatile uint64_t tohost;

/// Prints through the host interface; one hart at a time.
static inline void print(const char* text) {
    for (; *text; ++text) tohost = (uint64_t)1 << 56 | (uint64_t)1 << 48 | (uint8_t)*text;
}

static inline void print_number(uint64_t value) {
    char digits[24];
    char* at = digits + sizeof digits;
    *--at = 0;
    do *--at = (char)('0' + value % 10);
    while ((value /= 10) != 0);
    print(at);
}

static inline uint32_t big_endian(const uint8_t* at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/// Number of harts in a device tree: each has an interrupt controller.
static inline unsigned count_harts(const uint8_t* tree) {
    static const char kind[] = "riscv,cpu-intc";
    const uint32_t size = big_endian(tree + 4);
    unsigned found = 0;
    for (uint32_t at = 0; at + sizeof kind <= size; ++at) {
        unsigned same = 0;
        while (same < sizeof kind && tree[at + same] == (uint8_t)kind[same]) ++same;
        found += same == sizeof kind;
    }
    return found;
}

/// Returns when all of `harts` have called it.
static inline void barrier(unsigned harts) {
    static volatile unsigned arrived, round;
    const unsigned mine = round;
    if (__atomic_add_fetch(&arrived, 1, __ATOMIC_ACQ_REL) == harts) {
        arrived = 0;
        __atomic_store_n(&round, mine + 1, __ATOMIC_RELEASE);
    } else {
        while (__atomic_load_n(&round, __ATOMIC_ACQUIRE) == mine) {
        }
    }
}

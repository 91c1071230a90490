// SPDX-License-Identifier: Apache-2.0
// Memory streaming over 1.5 MiB: triad, copy, sum, bytes, words.
#include "guest.h"

enum { length = 64 * 1024 };

static uint64_t a[length], b[length], c[length];

static void triad(uint64_t factor) {
    for (unsigned i = 0; i < length; ++i) a[i] = b[i] + factor * c[i];
}
static void copy(void) {
    for (unsigned i = 0; i < length; ++i) b[i] = a[i];
}
static uint64_t sum(void) {
    uint64_t total = 0;
    for (unsigned i = 0; i < length; ++i) total += a[i];
    return total;
}
static void bytes(uint8_t add) {
    uint8_t* const p = (uint8_t*)c;
    for (unsigned i = 0; i < length; ++i) p[i] = (uint8_t)(p[i] + add);
}
static uint32_t words(void) {
    const uint32_t* const p = (const uint32_t*)b;
    uint32_t most = 0;
    for (unsigned i = 0; i < 2 * length; ++i)
        if (p[i] > most) most = p[i];
    return most;
}

int main(void) {
    uint64_t total = 0;
    for (unsigned i = 0; i < length; ++i) {
        b[i] = i;
        c[i] = ~(uint64_t)i;
    }
    for (unsigned round = 0; round < ROUNDS; ++round) {
        triad(round | 1);
        copy();
        total += sum();
        bytes((uint8_t)round);
        total ^= words();
    }
    return check((uint32_t)total);
}

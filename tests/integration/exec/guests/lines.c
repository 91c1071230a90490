// SPDX-License-Identifier: Apache-2.0
// A program with known coverage: each line's comment states whether the line runs, and which
// directions of its branch are taken.
#include <stdint.h>

extern volatile uint64_t tohost, fromhost;

volatile unsigned input = 5, count;

__attribute__((noinline)) static void never(void) {
    count = 100;  // skipped
}

__attribute__((noinline)) static void on_odd(unsigned value) {
    if (value & 1)    // ran, both
        count += 10;  // ran
    if (value > 50)   // ran, one
        never();      // skipped
}

int main(void) {
    for (unsigned i = input; i > 0; --i) on_odd(i);  // ran
    if (count == 77) {                               // ran, one
        count = 0;                                   // skipped
        never();                                     // skipped
    }
    return count == 30 ? 0 : 1;
}

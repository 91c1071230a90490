// SPDX-License-Identifier: Apache-2.0
// Hart 0 writes a function that hart 1 calls after fence.i; then hart 1 writes and calls another
// one. Exits with the number of the step that failed, 0 for none.
#include "harts.h"

enum { ROUNDS = 300 };

static uint32_t code[2][2] __attribute__((aligned(4096)));

/// Writes "li a0, VALUE; ret".
static void write(unsigned function, unsigned value) {
    code[function][0] = value << 20 | 0x513;
    code[function][1] = 0x8067;
}

static unsigned call(unsigned function) {
    return ((unsigned (*)(void))code[function])();
}

int main(uint64_t hart) {
    static volatile unsigned failed;
    for (unsigned round = 0; round < ROUNDS; ++round) {
        if (hart == 0) {
            write(0, round);
            __asm__ volatile("fence rw, rw" ::: "memory");
        }
        barrier(2);
        if (hart == 1) {
            __asm__ volatile("fence.i" ::: "memory");
            for (unsigned again = 0; again < 300; ++again)
                if (call(0) != round) failed = 1;
            write(1, round + 1);
            __asm__ volatile("fence.i" ::: "memory");
            if (call(1) != round + 1) failed = 2;
        }
        barrier(2);
    }
    return (int)failed;
}

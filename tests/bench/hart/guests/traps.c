// SPDX-License-Identifier: Apache-2.0
// A loop that traps once per round: on an illegal instruction, or (unmapped.c) on a jump to an
// unmapped address.
#include "guest.h"

int main(void) {
    __asm__ volatile(
        "   la   t0, 1f\n"
        "   csrw mtvec, t0\n"
        "   mv   t1, %0\n"
        "   li   t2, 0x40000000\n"
        "   .balign 4\n"
        "1: addi t1, t1, -1\n"  // the loop is also the trap handler
        "   beqz t1, 2f\n"
#ifdef UNMAPPED
        "   jr   t2\n"
#else
        "   .word 0\n"
#endif
        "2:\n" ::"r"(ROUNDS * 1000ull)
        : "t0", "t1", "t2", "memory");
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
// A software interrupt goes around all harts, which wait for it with wfi; then each hart waits for
// its own timer. Exits with 0 if every hart received each.
#include "harts.h"

enum { ROUNDS = 20, TICKS = 10000, MSIE = 8, MTIE = 128 };

static volatile uint32_t* const msip = (volatile uint32_t*)0x02000000;
static volatile uint64_t* const mtimecmp = (volatile uint64_t*)0x02004000;
static volatile uint64_t* const mtime = (volatile uint64_t*)0x0200bff8;

static uint64_t wait_for(uint64_t interrupt) {
    uint64_t pending;
    __asm__ volatile("csrw mie, %0" ::"r"(interrupt));
    do __asm__ volatile("wfi\n csrr %0, mip" : "=r"(pending)::"memory");
    while ((pending & interrupt) == 0);
    return pending;
}

int main(uint64_t hart, const uint8_t* tree) {
    static volatile unsigned received[32], early;
    const unsigned harts = count_harts(tree);
    for (unsigned round = 0; round < ROUNDS; ++round) {
        if (hart != 0 || round != 0) {
            wait_for(MSIE);
            msip[hart] = 0;
            ++received[hart];
        }
        msip[(hart + 1) % harts] = 1;
    }
    if (hart == 0) {
        wait_for(MSIE);
        msip[0] = 0;
        ++received[0];
    }
    const uint64_t due = *mtime + TICKS * (hart + 1);  // the harts wake one after the other
    mtimecmp[hart] = due;
    wait_for(MTIE);
    if (*mtime < due) early = 1;
    mtimecmp[hart] = ~0ul;
    __asm__ volatile("csrw mie, %0" ::"r"(0l));

    static unsigned done;
    if (__atomic_add_fetch(&done, 1, __ATOMIC_ACQ_REL) < harts) {
        wait_for(MSIE);  // of the last hart
        msip[hart] = 0;
    } else {
        for (unsigned other = 0; other < harts; ++other)
            if (other != hart) msip[other] = 1;
    }
    for (unsigned other = 0; other < harts; ++other)
        if (received[other] != ROUNDS) return 1;
    return early ? 2 : 0;
}

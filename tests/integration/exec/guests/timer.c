// SPDX-License-Identifier: Apache-2.0
// Waits for five timer interrupts, 100 ticks apart, with wfi.
#include <stdint.h>

static volatile uint64_t* const mtimecmp = (volatile uint64_t*)0x02004000;
static volatile uint64_t* const mtime = (volatile uint64_t*)0x0200bff8;
static volatile int ticks, wrong;

__attribute__((interrupt, aligned(4))) static void trap(void) {
    uint64_t cause;
    __asm__ volatile("csrr %0, mcause" : "=r"(cause));
    if (cause != ((uint64_t)1 << 63 | 7)) wrong = 1;
    ++ticks;
    *mtimecmp = *mtimecmp + 100;
}

int main(void) {
    uint64_t now;
    __asm__ volatile("csrw mtvec, %0" ::"r"(trap));
    *mtimecmp = *mtime + 100;
    __asm__ volatile("csrw mie, %0" ::"r"(128));
    __asm__ volatile("csrsi mstatus, 8");
    while (ticks < 5 && !wrong) __asm__ volatile("wfi");
    __asm__ volatile("rdtime %0" : "=r"(now));
    return wrong || now < 500 || now > 510;
}

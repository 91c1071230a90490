// SPDX-License-Identifier: Apache-2.0
// A program for the management processor that uses a foreign timer and memory.
#include <stdint.h>

#define REG32(address) (*(volatile uint32_t*)(uintptr_t)(address))
#define REG64(address) (*(volatile uint64_t*)(uintptr_t)(address))
#define AXI UINT64_C(0x80000000000000)
enum { WATCHDOG_CONTROL = 0x10001000, STOPPED = 0, LINE = 13 };
enum {
    TIMER = 0x11000000,
    LOAD = 0x0,
    STATUS = 0x4,
    SCRATCH = 0x8,
    FIRED = 0xc,
    MISBEHAVE = 0x10,
    HANGS = 2
};
enum { PLIC = 0x0c000000, ENABLE = 0x2000, CLAIM = 0x200004 };
enum { MIE_EXTERNAL = 1 << 11, MSTATUS_MIE = 1 << 3 };
#define DDR (AXI + UINT64_C(0x100f000000))
#define RESULT UINT64_C(0x40080000)  // words for the test: see foreign_test.cpp

static volatile uint32_t interrupts, claimed;

__attribute__((interrupt("machine"), aligned(4))) void trap(void) {
    uint64_t cause;
    __asm__ volatile("csrr %0, mcause" : "=r"(cause));
    if (cause >> 63 == 0) {
        REG64(RESULT + 32) = cause;
        for (;;) __asm__ volatile("wfi");
    }
    claimed = REG32(PLIC + CLAIM);
    REG32(TIMER + STATUS) = 1;
    REG32(PLIC + CLAIM) = claimed;
    ++interrupts;
}

/* Hangs in a store until the watchdog resets the chip; returns after that. */
static void hang_once(void) {
    REG32(RESULT + 44) += 1;
    if (REG32(RESULT + 44) == 1) REG32(TIMER + MISBEHAVE) = HANGS;
    REG32(RESULT) = 0x600d;
    for (;;) __asm__ volatile("wfi");
}

void main(void) {
    if (REG32(RESULT + 40) == 1) hang_once();
    REG32(WATCHDOG_CONTROL) = STOPPED;
    REG32(RESULT + 4) = REG32(TIMER + SCRATCH);
    REG32(TIMER + SCRATCH) = 0x55;
    REG32(RESULT + 8) = REG32(TIMER + SCRATCH);

    REG32(PLIC + 4 * LINE) = 1;
    REG32(PLIC + ENABLE) = 1u << LINE;
    __asm__ volatile("csrw mie, %0; csrs mstatus, %1" ::"r"(MIE_EXTERNAL), "r"(MSTATUS_MIE));
    REG32(TIMER + LOAD) = 2000;
    while (interrupts == 0) {
    }
    REG32(RESULT + 12) = claimed;
    REG32(RESULT + 16) = REG32(TIMER + FIRED);

    uint64_t sum = 0;
    for (uint64_t i = 0; i < 64; ++i) REG64(DDR + 8 * i) = i * i;
    for (uint64_t i = 0; i < 64; ++i) sum += REG64(DDR + 8 * i);
    REG64(RESULT + 24) = sum;
    REG32(RESULT) = 0x600d;
    for (;;) __asm__ volatile("wfi");
}

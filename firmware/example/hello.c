// SPDX-License-Identifier: Apache-2.0
// A first firmware: prints a line, sleeps for three ticks of the timer, and reports ready.
#include <stdint.h>

// Addresses and bits: doc/models/soc/management.md, uart.md, aclint.md, reset_controller.md,
// misc_ram.md.
#define REG32(address) (*(volatile uint32_t*)(uintptr_t)(address))
#define REG64(address) (*(volatile uint64_t*)(uintptr_t)(address))
enum { UART_DATA = 0x10000000, UART_LSR = 0x10000014, LSR_TX_EMPTY = 1 << 5 };
enum { MTIMECMP = 0x02004000, MTIME = 0x0200bff8, TICKS_PER_MS = 10000, MIE_TIMER = 1 << 7 };
enum { BOOT_STATUS = 0x10004030, READY = 9, ROUTING_ID = 0x10006024 };
enum { WATCHDOG_CONTROL = 0x10001000, STOPPED = 0 };

static void print(const char* text) {
    for (; *text != 0; ++text) {
        while ((REG32(UART_LSR) & LSR_TX_EMPTY) == 0) {
        }
        REG32(UART_DATA) = (uint8_t)*text;
    }
}

static void sleep_ms(unsigned duration) {
    REG64(MTIMECMP) = REG64(MTIME) + (uint64_t)duration * TICKS_PER_MS;
    while (REG64(MTIME) < REG64(MTIMECMP)) __asm__ volatile("wfi");  // mstatus.MIE is 0: no trap
}

void main(void) {
    REG32(WATCHDOG_CONTROL) = STOPPED;  // the boot ROM has started it: a reset within 2 s
    print("hello from my firmware\n");
    __asm__ volatile("csrs mie, %0" ::"r"(MIE_TIMER));
    for (char tick = '1'; tick <= '3'; ++tick) {
        sleep_ms(1);
        print((char[]){'t', 'i', 'c', 'k', ' ', tick, '\n', 0});
    }
    REG32(ROUTING_ID) = 0;  // hosts wait for the routing id
    REG32(BOOT_STATUS) = READY;
    __asm__ volatile("csrw mie, zero");  // sleep for ever
}

// SPDX-License-Identifier: Apache-2.0
// Waits with wfi until mtime is WAKE, and then runs without end.
#include <stdint.h>

static volatile uint64_t* const mtimecmp = (volatile uint64_t*)0x02004000;

int main(void) {
    *mtimecmp = WAKE;
    __asm__ volatile("csrw mie, %0" ::"r"(128));
    __asm__ volatile("wfi");
    for (;;) __asm__ volatile("");
}

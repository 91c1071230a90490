// SPDX-License-Identifier: Apache-2.0
// The page of tohost is RAM but for that word: misaligned, atomic and conditional stores. Exits
// with 2^32, which has no low bits; with a small code when something is wrong.
#include <stdint.h>

extern volatile uint64_t tohost;

static uint64_t load(volatile char* at) {
    uint64_t value;
    __asm__ volatile("ld %0, 0(%1)" : "=r"(value) : "r"(at) : "memory");
    return value;
}

int main(void) {
    volatile char* const page = (volatile char*)&tohost + 64;
    const uint64_t value = 0x0123456789abcdef;
    uint64_t failed = 1, old;
    __asm__ volatile("sd %0, 3(%1)" ::"r"(value), "r"(page) : "memory");
    if (load(page + 3) != value) return 2;
    volatile char* const end = page - 64 + 4096 - 5;  // across the end of the page
    __asm__ volatile("sd %0, 0(%1)" ::"r"(value), "r"(end) : "memory");
    if (load(end) != value) return 3;
    __asm__ volatile("lr.d %0, (%2)\n sc.d %1, %3, (%2)"
                     : "=&r"(old), "=&r"(failed)
                     : "r"(page + 64), "r"(value)
                     : "memory");
    if (failed || load(page + 64) != value) return 4;
    __asm__ volatile("amoadd.d %0, %2, (%1)" : "=&r"(old) : "r"(page + 64), "r"(1ul) : "memory");
    if (old != value || load(page + 64) != value + 1) return 5;
    tohost = (uint64_t)1 << 33 | 1;
    for (;;) {
    }
}

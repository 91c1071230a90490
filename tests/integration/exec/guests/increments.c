// SPDX-License-Identifier: Apache-2.0
// All harts increment a counter in five ways; prints what it counted. Only "plain" may lose
// increments.
#include "harts.h"

enum { ROUNDS = 2000 };

static void plain(long* counter) {
    long value;
    __asm__ volatile("ld %0, 0(%1)\n addi %0, %0, 1\n sd %0, 0(%1)"
                     : "=&r"(value)
                     : "r"(counter)
                     : "memory");
}

static void amo(long* counter) {
    __asm__ volatile("amoadd.d zero, %0, (%1)" ::"r"(1l), "r"(counter) : "memory");
}

static void lr_sc(long* counter) {
    long value;
    __asm__ volatile("1: lr.d %0, (%1)\n addi %0, %0, 1\n sc.d %0, %0, (%1)\n bnez %0, 1b"
                     : "=&r"(value)
                     : "r"(counter)
                     : "memory");
}

static void swap_lock(long* counter) {
    static int lock;
    long value;
    __asm__ volatile("1: amoswap.w.aq %0, %2, (%1)\n bnez %0, 1b"
                     : "=&r"(value)
                     : "r"(&lock), "r"(1l)
                     : "memory");
    plain(counter);
    __asm__ volatile("amoswap.w.rl zero, zero, (%0)" ::"r"(&lock) : "memory");
}

static void fence_lock(long* counter) {
    static int lock;
    long value;
    __asm__ volatile(
        "1: lr.w %0, (%1)\n bnez %0, 1b\n sc.w %0, %2, (%1)\n bnez %0, 1b\n fence r, rw"
        : "=&r"(value)
        : "r"(&lock), "r"(1l)
        : "memory");
    plain(counter);
    __asm__ volatile("fence rw, w\n sw zero, 0(%0)" ::"r"(&lock) : "memory");
}

int main(uint64_t hart, const uint8_t* tree) {
    static long counters[5];
    static void (*const ways[5])(long*) = {plain, amo, lr_sc, swap_lock, fence_lock};
    static const char* const names[5] = {"plain", "amo", "lr/sc", "lock of amoswap",
                                         "lock of lr/sc and fences"};
    const unsigned harts = count_harts(tree);
    for (unsigned way = 0; way < 5; ++way) {
        barrier(harts);
        for (unsigned round = 0; round < ROUNDS; ++round) ways[way](&counters[way]);
    }
    barrier(harts);
    if (hart != 0) return 0;
    int failed = 0;
    for (unsigned way = 0; way < 5; ++way) {
        print(names[way]);
        print(": ");
        print_number((uint64_t)counters[way]);
        print(" of ");
        print_number((uint64_t)ROUNDS * harts);
        print("\n");
        failed |= way != 0 && counters[way] != ROUNDS * (long)harts;
    }
    return failed;
}

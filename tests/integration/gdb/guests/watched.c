// SPDX-License-Identifier: Apache-2.0
// Program debugged by tests/integration/gdb/exec_test.py, which finds lines by their comments.
#include <stdint.h>

volatile long counter, other, seen;
volatile int lock;
volatile long table[3];

__attribute__((noinline)) static void consume(long value) {
    seen = value;
}

__attribute__((noinline)) static void set_last(void) {
    other = 8;  // last of its function
}

__attribute__((noinline)) long doubled(long value) {
    return 2 * value;
}

__attribute__((noinline)) static void sleep_once(void) {
    __asm__ volatile("wfi");
}

int main(void) {
    counter = 1;
    other = 5;  // behind the first store
    counter = 2;
    consume(counter);  // loads, then calls
    other = doubled(21);
    __atomic_fetch_add(&lock, 3, __ATOMIC_SEQ_CST);  // behind the call
    seen = 0;                                        // behind the atomic
    for (int i = 0; i < 3; ++i) {
        table[i] = counter;
        seen += i;
    }
    set_last();
    sleep_once();
    other = 6;  // behind the sleep
    return 9;
}

// SPDX-License-Identifier: Apache-2.0
// Firmware that sleeps forever in a function; a debugger can still change its pc (idle_test.py).
volatile long rounds;

__attribute__((noinline)) long tripled(long value) {
    return 3 * value;
}

__attribute__((noinline)) static void sleep_once(void) {
    __asm__ volatile("wfi");
}

void main(void) {
    for (;;) {
        sleep_once();
        rounds = tripled(rounds) + 1;
    }
}

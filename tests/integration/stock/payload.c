// SPDX-License-Identifier: Apache-2.0
// Runs in S mode after OpenSBI: uses the machine's devices as stock software does, reboots once,
// then powers off.
#include <stdbool.h>
#include <stdint.h>

__asm__(
    ".pushsection .text.start, \"ax\"\n.globl _start\n_start:\n"
    "  la sp, stack_top\n  call payload\n.popsection\n"
    ".pushsection .bss\n.balign 16\n.zero 4096\nstack_top:\n.popsection\n");

#define PLIC 0x0c000000ul
#define UART 0x10000000ul
#define RESET_REASON 0x10004020ul
#define BY_SOFTWARE 4u
enum { UART_SOURCE = 1, SUPERVISOR = 1 };  // context of the PLIC
enum { SBI_PUTCHAR = 1, SBI_TIMER = 0x54494d45, SBI_RESET = 0x53525354 };

static uint32_t read32(uint64_t address) {
    return *(volatile uint32_t*)address;
}
static void write32(uint64_t address, uint32_t value) {
    *(volatile uint32_t*)address = value;
}

static long sbi(long extension, long a, long b) {
    register long a0 __asm__("a0") = a, a1 __asm__("a1") = b;
    register long a6 __asm__("a6") = 0, a7 __asm__("a7") = extension;
    __asm__ volatile("ecall" : "+r"(a0), "+r"(a1) : "r"(a6), "r"(a7) : "memory");
    return a0;
}

static void say(const char* text) {
    for (; *text; ++text) sbi(SBI_PUTCHAR, *text, 0);
}
static void check(const char* text, bool good) {
    say("payload: ");
    say(text);
    say(good ? " works\n" : " FAILS\n");
}

static bool waits_for(unsigned long interrupt) {
    unsigned long pending;
    __asm__ volatile("csrw sie, %1\n wfi\n csrr %0, sip" : "=r"(pending) : "r"(interrupt));
    return (pending & interrupt) != 0;
}

static bool timer_interrupts(void) {
    enum { STIP = 1 << 5, TICKS = 1000 };
    unsigned long before, after;
    __asm__ volatile("rdtime %0" : "=r"(before));
    sbi(SBI_TIMER, (long)(before + TICKS), 0);
    const bool raised = waits_for(STIP);
    __asm__ volatile("rdtime %0" : "=r"(after));
    sbi(SBI_TIMER, -1, 0);
    return raised && after - before >= TICKS && after - before < 2 * TICKS;
}

/// Checks that the UART raises its transmitter-empty interrupt through the PLIC's S mode context.
static bool uart_interrupts(void) {
    enum { SEIP = 1 << 9, IER = 4, TX_EMPTY = 2 };
    write32(PLIC + 4 * UART_SOURCE, 7);
    write32(PLIC + 0x2000 + 0x80 * SUPERVISOR, 1u << UART_SOURCE);
    write32(PLIC + 0x200000 + 0x1000 * SUPERVISOR, 0);
    write32(UART + IER, TX_EMPTY);
    const bool raised = waits_for(SEIP);
    const uint32_t source = read32(PLIC + 0x200004 + 0x1000 * SUPERVISOR);
    write32(UART + IER, 0);
    write32(PLIC + 0x200004 + 0x1000 * SUPERVISOR, source);
    return raised && source == UART_SOURCE;
}

static bool floating_point(void) {
    unsigned long on = 1 << 13, flags;
    double root;
    __asm__ volatile("csrs sstatus, %2\n fcvt.d.l fa0, %3\n fsqrt.d %0, fa0\n frflags %1"
                     : "=f"(root), "=r"(flags)
                     : "r"(on), "r"(2l)
                     : "fa0");
    enum { INEXACT = 1 };
    return root > 1.41421356 && root < 1.41421357 && flags == INEXACT;
}

static bool atomics(void) {
    static long word = 5;
    return __atomic_fetch_add(&word, 2, __ATOMIC_SEQ_CST) == 5 &&
           __sync_bool_compare_and_swap(&word, 7, 8) && word == 8;
}

void payload(long hart, const uint32_t* tree) {
    const bool rebooted = (read32(RESET_REASON) & BY_SOFTWARE) != 0;
    say(rebooted ? "payload: second boot\n" : "payload: first boot\n");
    check("device tree", hart == 0 && tree[0] == 0xedfe0dd0);
    check("floating point", floating_point());
    check("atomics", atomics());
    check("timer", timer_interrupts());
    check("uart interrupt", uart_interrupts());
    enum { SHUTDOWN = 0, COLD_REBOOT = 1 };
    sbi(SBI_RESET, rebooted ? SHUTDOWN : COLD_REBOOT, 0);
    for (;;) __asm__ volatile("wfi");
}

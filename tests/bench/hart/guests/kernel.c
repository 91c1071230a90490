// SPDX-License-Identifier: Apache-2.0
// A small kernel: system calls by ecall, a timer interrupt, a device register, a lock, and copies
// between buffers.
#include "guest.h"

#define CSR_WRITE(name, value) __asm__ volatile("csrw " #name ", %0" ::"r"((uint64_t)(value)))
#define CSR_SET(name, bits) __asm__ volatile("csrs " #name ", %0" ::"r"((uint64_t)(bits)))

enum { line_size = 64, lines = 64, timer_period = 200 };

static volatile uint32_t* const software_interrupt = (volatile uint32_t*)0x02000000;
static volatile uint64_t* const timer_compare = (volatile uint64_t*)0x02004000;
static volatile uint64_t* const timer = (volatile uint64_t*)0x0200bff8;

static char ring[lines][line_size];
static uint32_t lock, written, ticks;

static uint32_t write_line(const char* from, unsigned length) {
    while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE) != 0) {
    }
    char* const to = ring[written++ % lines];
    uint32_t sum = 0;
    for (unsigned i = 0; i < length; ++i) {
        to[i] = from[i];
        sum = sum * 31 + (unsigned char)from[i];
    }
    __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
    return sum + *software_interrupt;
}

/// a0 to a2 of the interrupted code, as they are changed by the call.
static void __attribute__((noinline, used)) trap(uint64_t* registers) {
    uint64_t cause, pc;
    __asm__ volatile("csrr %0, mcause" : "=r"(cause));
    if (cause >> 63 != 0) {
        ++ticks;
        *timer_compare = *timer + timer_period;
        return;
    }
    __asm__ volatile("csrr %0, mepc" : "=r"(pc));
    CSR_WRITE(mepc, pc + 4);
    registers[0] = write_line((const char*)registers[0], (unsigned)registers[1]);
}

/// Saves the registers that a procedure may change.
__asm__(
    "    .balign 4\n"
    "trap_entry:\n"
    "    addi sp, sp, -128\n"
    "    sd a0, 0(sp)\n    sd a1, 8(sp)\n    sd a2, 16(sp)\n    sd a3, 24(sp)\n"
    "    sd a4, 32(sp)\n    sd a5, 40(sp)\n    sd a6, 48(sp)\n    sd a7, 56(sp)\n"
    "    sd t0, 64(sp)\n    sd t1, 72(sp)\n    sd t2, 80(sp)\n    sd t3, 88(sp)\n"
    "    sd t4, 96(sp)\n    sd t5, 104(sp)\n    sd t6, 112(sp)\n    sd ra, 120(sp)\n"
    "    mv a0, sp\n"
    "    call trap\n"
    "    ld a0, 0(sp)\n    ld a1, 8(sp)\n    ld a2, 16(sp)\n    ld a3, 24(sp)\n"
    "    ld a4, 32(sp)\n    ld a5, 40(sp)\n    ld a6, 48(sp)\n    ld a7, 56(sp)\n"
    "    ld t0, 64(sp)\n    ld t1, 72(sp)\n    ld t2, 80(sp)\n    ld t3, 88(sp)\n"
    "    ld t4, 96(sp)\n    ld t5, 104(sp)\n    ld t6, 112(sp)\n    ld ra, 120(sp)\n"
    "    addi sp, sp, 128\n"
    "    mret\n");
extern char trap_entry[];

static uint32_t call_write(const char* from, unsigned length) {
    register uint64_t a0 __asm__("a0") = (uint64_t)from;
    register uint64_t a1 __asm__("a1") = length;
    __asm__ volatile("ecall" : "+r"(a0) : "r"(a1) : "memory");
    return (uint32_t)a0;
}

int main(void) {
    char text[line_size];
    uint32_t sum = 0;
    CSR_WRITE(mtvec, trap_entry);
    *timer_compare = *timer + timer_period;
    CSR_SET(mie, 1 << 7);
    CSR_SET(mstatus, 1 << 3);
    for (uint32_t round = 0; round < ROUNDS * 100u; ++round) {
        for (unsigned i = 0; i < 16; ++i) text[i] = (char)(round * (i + 3));
        sum = sum * 5 + call_write(text, 4 + round % 12);
    }
    return check(sum);
}

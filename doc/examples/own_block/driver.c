// SPDX-License-Identifier: Apache-2.0
// Firmware of the management processor: multiplies words in HBM with the scaler, and sleeps until
// its interrupt.
#include <stdint.h>

#include "trn/scaler_regs.h"

#define REG32(address) (*(volatile uint32_t*)(uintptr_t)(address))
enum {
    SCALER = 0x11000000,
    LINE = 13,
    WATCHDOG_CONTROL = 0x10001000,
    UART = 0x10000000,
    PLIC = 0x0c000000,
    ENABLE = 0x2000,
    CLAIM = 0x200004
};
// Addresses of the AXI router have bit 55 set in those of the processor. HBM stack 0 is at 0.
#define AXI UINT64_C(0x80000000000000)
enum { SOURCE = 0x100000, TARGET = 0x200000 };
enum { MIE_EXTERNAL = 1 << 11 };
enum { WORDS = 1000, FACTOR = 7 };

static void print(const char* text) {
    while (*text != 0) REG32(UART) = (uint8_t)*text++;
}

static uint32_t scale(uint64_t source, uint64_t target, uint32_t count, uint32_t factor) {
    REG32(SCALER + TRN_SCALER_SOURCE_LO_OFFSET) = (uint32_t)source;
    REG32(SCALER + TRN_SCALER_SOURCE_HI_OFFSET) = (uint32_t)(source >> 32);
    REG32(SCALER + TRN_SCALER_TARGET_LO_OFFSET) = (uint32_t)target;
    REG32(SCALER + TRN_SCALER_TARGET_HI_OFFSET) = (uint32_t)(target >> 32);
    REG32(SCALER + TRN_SCALER_WORDS_OFFSET) = count;
    REG32(SCALER + TRN_SCALER_FACTOR_OFFSET) = factor;
    REG32(SCALER + TRN_SCALER_CONTROL_OFFSET) = 1;
    while (REG32(PLIC + CLAIM) != LINE) __asm__ volatile("wfi");
    const uint32_t status = REG32(SCALER + TRN_SCALER_STATUS_OFFSET);
    REG32(SCALER + TRN_SCALER_STATUS_OFFSET) = status;
    REG32(PLIC + CLAIM) = LINE;
    return status;
}

void main(void) {
    REG32(WATCHDOG_CONTROL) = 0;
    REG32(PLIC + 4 * LINE) = 1;
    REG32(PLIC + ENABLE) = 1u << LINE;
    __asm__ volatile("csrw mie, %0" ::"r"(MIE_EXTERNAL));  // ends wfi; mstatus.MIE is 0: no trap
    for (uint32_t i = 0; i < WORDS; ++i) REG32(AXI + SOURCE + 4 * i) = i;
    const uint32_t status = scale(SOURCE, TARGET, WORDS, FACTOR);
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < WORDS; ++i) wrong += REG32(AXI + TARGET + 4 * i) != i * FACTOR;
    print(status == 1 && wrong == 0 ? "scaled 1000 words\n" : "the results are wrong\n");
    __asm__ volatile("csrw mie, zero");
    for (;;) __asm__ volatile("wfi");
}

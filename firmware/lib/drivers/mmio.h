// SPDX-License-Identifier: Apache-2.0
// Device registers are 32 bits wide; their offsets and fields come from the generated
// <trn/*_regs.h>.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "firmware/lib/drivers/memory_map.h"

static inline uint32_t mmio_read(uintptr_t address) {
    return *(volatile uint32_t*)address;
}
static inline void mmio_write(uintptr_t address, uint32_t value) {
    *(volatile uint32_t*)address = value;
}
static inline void mmio_set(uintptr_t address, uint32_t bits) {
    mmio_write(address, mmio_read(address) | bits);
}
static inline void mmio_clear(uintptr_t address, uint32_t bits) {
    mmio_write(address, mmio_read(address) & ~bits);
}

/// Orders all earlier accesses, to devices and memory, before all later ones.
static inline void mmio_fence(void) {
#ifdef __riscv
    __asm__ volatile("fence iorw, iorw" ::: "memory");
#else  // unit tests of the portable parts
    __sync_synchronize();
#endif
}

// Blocks in AXI space can vanish: in reset, without power, behind a link that is down. These
// functions are the only access to them.

/// Reads or writes `length` bytes of AXI space (host memory, HBM, registers). False, without a
/// trap, when an access faults. Accesses are as wide as alignment allows, up to 8 bytes, in
/// ascending order, without retries.
bool axi_read(uint64_t address, void* destination, size_t length);
bool axi_write(uint64_t address, const void* source, size_t length);
/// One word, in fewer instructions. Precondition: `address` is a multiple of 4.
bool axi_read_word(uint64_t address, uint32_t* value);
bool axi_write_word(uint64_t address, uint32_t value);

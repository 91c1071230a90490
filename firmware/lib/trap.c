// SPDX-License-Identifier: Apache-2.0
#include "firmware/lib/trap.h"

#include "firmware/lib/csr.h"
#include "firmware/lib/drivers/mmio.h"
#include "firmware/lib/irq.h"
#include "firmware/lib/panic.h"
#include "firmware/lib/timer.h"

/// An instruction that may fault, and the address at which execution resumes after the fault.
struct fixup {
    uint64_t instruction;
    uint64_t resume;
};
extern const struct fixup fixups_start[], fixups_end[];

static const struct fixup* find_fixup(uint64_t pc) {
    for (const struct fixup* f = fixups_start; f != fixups_end; ++f)
        if (f->instruction == pc) return f;
    return NULL;
}

void trap_dispatch(struct trap_frame* frame) {
    switch (frame->cause) {
    case MCAUSE_MACHINE_EXTERNAL:
        irq_dispatch();
        return;
    case MCAUSE_MACHINE_TIMER:
        timer_dispatch();
        return;
    case MCAUSE_LOAD_ACCESS_FAULT:
    case MCAUSE_STORE_ACCESS_FAULT: {
        const struct fixup* fixup = find_fixup(frame->pc);
        if (fixup == NULL) break;
        frame->pc = fixup->resume;
        return;
    }
    default:
        break;
    }
    panic_trap(frame);
}

// One access that may fault. The label pair goes into the fix-up table; `ok` stays false after a
// fault, because execution resumes after the instruction that sets it.
#define GUARDED(instruction, operand_a, operand_b) \
    __asm__ volatile(                              \
        "   li %[ok], 0\n"                         \
        "1: " instruction                          \
        "\n"                                       \
        "   li %[ok], 1\n"                         \
        "2:\n"                                     \
        "   .pushsection .fixups, \"a\"\n"         \
        "   .dword 1b, 2b\n"                       \
        "   .popsection\n"                         \
        : [ok] "=&r"(ok), operand_a:operand_b      \
        : "memory")

/// This processor's address of an address in the chip's AXI space. Fabric addresses (bit 63) are
/// the same in both.
static uintptr_t axi(uint64_t address) {
    return address >> 63 ? address : MAP_AXI_WINDOW + address;
}

static bool guarded_load(uintptr_t address, void* destination, size_t width) {
    uint64_t value = 0;
    long ok;
    switch (width) {
    case 8:
        GUARDED("ld %[v], 0(%[a])", [v] "+&r"(value), [a] "r"(address));
        break;
    case 4:
        GUARDED("lwu %[v], 0(%[a])", [v] "+&r"(value), [a] "r"(address));
        break;
    case 2:
        GUARDED("lhu %[v], 0(%[a])", [v] "+&r"(value), [a] "r"(address));
        break;
    default:
        GUARDED("lbu %[v], 0(%[a])", [v] "+&r"(value), [a] "r"(address));
        break;
    }
    __builtin_memcpy(destination, &value, width);
    return ok;
}

static bool guarded_store(uintptr_t address, const void* source, size_t width) {
    uint64_t value = 0;
    long ok;
    __builtin_memcpy(&value, source, width);
    switch (width) {
    case 8:
        GUARDED("sd %[v], 0(%[a])", [v] "+r"(value), [a] "r"(address));
        break;
    case 4:
        GUARDED("sw %[v], 0(%[a])", [v] "+r"(value), [a] "r"(address));
        break;
    case 2:
        GUARDED("sh %[v], 0(%[a])", [v] "+r"(value), [a] "r"(address));
        break;
    default:
        GUARDED("sb %[v], 0(%[a])", [v] "+r"(value), [a] "r"(address));
        break;
    }
    return ok;
}

static size_t widest_access(uint64_t address, size_t length) {
    size_t width = 8;
    while (address % width != 0 || width > length) width /= 2;
    return width;
}

bool axi_read(uint64_t address, void* destination, size_t length) {
    for (uint8_t* byte = destination; length > 0;) {
        const size_t width = widest_access(address, length);
        if (!guarded_load(axi(address), byte, width)) return false;
        address += width;
        byte += width;
        length -= width;
    }
    return true;
}

bool axi_write(uint64_t address, const void* source, size_t length) {
    for (const uint8_t* byte = source; length > 0;) {
        const size_t width = widest_access(address, length);
        if (!guarded_store(axi(address), byte, width)) return false;
        address += width;
        byte += width;
        length -= width;
    }
    return true;
}

bool axi_read_word(uint64_t address, uint32_t* destination) {
    uint64_t value = 0;
    long ok;
    GUARDED("lwu %[v], 0(%[a])", [v] "+&r"(value), [a] "r"(axi(address)));
    *destination = (uint32_t)value;
    return ok;
}

bool axi_write_word(uint64_t address, uint32_t value) {
    long ok;
    GUARDED("sw %[v], 0(%[a])", [v] "+r"(value), [a] "r"(axi(address)));
    return ok;
}

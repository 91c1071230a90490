// SPDX-License-Identifier: Apache-2.0
#include "firmware/host/boot_tables.h"

#include <stddef.h>
#include <string.h>

#include "firmware/host/chosen.h"
#include "firmware/host/smbios.h"

// UEFI 2.10: 4.2.1, 4.3.1, 4.6.1, 7.2.3.
#define SYSTEM_TABLE_SIGNATURE 0x5453595320494249ull  // "IBI SYST"
#define UEFI_2_10 (2u << 16 | 100u)
#define PAGE 4096ull
#define WRITE_BACK 8ull

enum memory_type { RESERVED = 0, RUNTIME_DATA = 6, CONVENTIONAL = 7 };

struct memory_descriptor {
    uint32_t type, padding;
    uint64_t address, virtual_address, pages, attributes;
};
#define DESCRIPTOR_VERSION 1

struct guid {
    uint32_t first;
    uint16_t second, third;
    uint8_t last[8];
};

struct configuration {
    struct guid kind;
    uint64_t table;
};

struct system_table {
    uint64_t signature;
    uint32_t revision, header_size, crc, reserved;
    uint64_t vendor;
    uint32_t firmware_revision, padding;
    uint64_t consoles[6];
    uint64_t runtime_services, boot_services;
    uint64_t configurations, configuration;
};

/// EFI_RT_PROPERTIES_TABLE: without it, a kernel takes all runtime services as supported.
struct runtime_properties {
    uint16_t version, length;
    uint32_t supported;
};

#define MAX_REGIONS 4
/// What is at the start of the RAM for tables; the tables of SMBIOS follow.
struct boot_tables {
    struct system_table system;
    struct configuration configurations[2];
    struct memory_descriptor map[MAX_REGIONS];
    struct runtime_properties properties;
    uint16_t vendor[8];
} __attribute__((aligned(16)));
_Static_assert(sizeof(struct system_table) == 120 && sizeof(struct memory_descriptor) == 40,
               "layout of UEFI");

static const struct guid smbios3 = {
    0xf2fd1544, 0x9794, 0x4a2c, {0x99, 0x2e, 0xe5, 0xbb, 0xcf, 0x20, 0xe3, 0x94}};
static const struct guid runtime_properties_kind = {
    0xeb66918a, 0x7eef, 0x402a, {0x84, 0x2e, 0x93, 0x1d, 0x21, 0xc3, 0x8a, 0xe9}};

/// CRC-32 of IEEE 802.3.
static uint32_t crc32(const uint8_t* bytes, size_t length) {
    uint32_t crc = 0xffffffff;
    for (size_t i = 0; i < length; ++i) {
        crc ^= bytes[i];
        for (unsigned bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    }
    return ~crc;
}

static unsigned add_region(struct boot_tables* all, unsigned count, enum memory_type type,
                           uint64_t base, uint64_t end) {
    if (base >= end) return count;
    all->map[count] = (struct memory_descriptor){
        .type = type, .address = base, .pages = (end - base) / PAGE, .attributes = WRITE_BACK};
    return count + 1;
}

/// The tables of SMBIOS are runtime data that needs no virtual address (UEFI 2.3.7.2).
static unsigned write_map(struct boot_tables* all, const struct image_store_machine* machine,
                          uint64_t kernel) {
    const uint64_t ram_end = machine->ram_base + machine->ram_size;
    const uint64_t tables_end = machine->tables + machine->tables_size;
    unsigned count = add_region(all, 0, RESERVED, machine->ram_base, kernel);
    count = add_region(all, count, CONVENTIONAL, kernel, machine->tables);
    count = add_region(all, count, RUNTIME_DATA, machine->tables, tables_end);
    return add_region(all, count, CONVENTIONAL, tables_end, ram_end);
}

static void write_system_table(struct boot_tables* all, uint64_t smbios) {
    static const char vendor[] = "trnvp";
    for (size_t i = 0; i < sizeof vendor; ++i) all->vendor[i] = (uint16_t)vendor[i];
    all->properties = (struct runtime_properties){.version = 1, .length = sizeof all->properties};
    all->configurations[0] = (struct configuration){smbios3, smbios};
    all->configurations[1] =
        (struct configuration){runtime_properties_kind, (uintptr_t)&all->properties};
    all->system = (struct system_table){.signature = SYSTEM_TABLE_SIGNATURE,
                                        .revision = UEFI_2_10,
                                        .header_size = sizeof all->system,
                                        .vendor = (uintptr_t)all->vendor,
                                        .configurations = 2,
                                        .configuration = (uintptr_t)all->configurations};
    all->system.crc = crc32((const uint8_t*)&all->system, sizeof all->system);
}

bool boot_tables_write(const struct image_store_machine* machine, uint64_t kernel, uint8_t* tree) {
    struct boot_tables* const all = (void*)(uintptr_t)machine->tables;
    if (kernel == 0 || machine->tables_size <= sizeof *all) return false;
    uint8_t* const smbios = (uint8_t*)(all + 1);
    if (!smbios_write(machine, smbios, machine->tables_size - sizeof *all)) return false;
    memset(all, 0, sizeof *all);
    const unsigned regions = write_map(all, machine, kernel);
    write_system_table(all, (uintptr_t)smbios);
    enum { SECURE_BOOT_DISABLED = 2 };  // Debian's
    const struct chosen_value values[] = {
        {"linux,uefi-system-table", (uintptr_t)&all->system},
        {"linux,uefi-mmap-start", (uintptr_t)all->map},
        {"linux,uefi-mmap-size", regions * sizeof all->map[0]},
        {"linux,uefi-mmap-desc-size", sizeof all->map[0]},
        {"linux,uefi-mmap-desc-ver", DESCRIPTOR_VERSION},
        {"linux,uefi-secure-boot", SECURE_BOOT_DISABLED},
    };
    return chosen_set(tree, values, sizeof values / sizeof values[0]);
}

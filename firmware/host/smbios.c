// SPDX-License-Identifier: Apache-2.0
#include "firmware/host/smbios.h"

#include <string.h>

// Formatted areas as in DSP0134 3.3: 5.2.2, 7.1 to 7.4, 7.45. Bytes that are not named are zero.
enum {
    ENTRY_SIZE = 0x18,
    BIOS_SIZE = 0x1a,
    SYSTEM_SIZE = 0x1b,
    BOARD_SIZE = 0x0f,
    CHASSIS_SIZE = 0x16,
    END_SIZE = 4,
    MAX_STRUCTURE = 0x1b
};
enum { TYPE_BIOS = 0, TYPE_SYSTEM = 1, TYPE_BOARD = 2, TYPE_CHASSIS = 3, TYPE_END = 127 };
#define UUID_TEXT 37  // with its terminating zero

struct writer {
    uint8_t *next, *end;
    uint8_t handle;
};

static void put(struct writer* table, const void* bytes, size_t length) {
    if (length <= (size_t)(table->end - table->next)) {
        memcpy(table->next, bytes, length);
        table->next += length;
    } else {
        table->end = table->next;  // nothing more has room
    }
}

/// A structure whose bytes from offset 4 on are set, and its strings, until a null pointer; an
/// empty string cannot be one.
static void add(struct writer* table, uint8_t type, uint8_t size, uint8_t* area,
                const char* const* strings) {
    area[0] = type;
    area[1] = size;
    area[2] = table->handle++;
    put(table, area, size);
    if (*strings == NULL) put(table, "", 1);
    for (; *strings != NULL; ++strings) put(table, *strings, strlen(*strings) + 1);
    put(table, "", 1);
}

static void add_bios(struct writer* table) {
    uint8_t area[MAX_STRUCTURE] = {[4] = 1, [5] = 2};
    area[10] = 1 << 3;             // characteristics are not given, beside those:
    area[19] = 1 << 3 | 1 << 4;    // UEFI, virtual machine
    memset(&area[0x14], 0xff, 4);  // releases of firmware and of a controller: none
    static const char* const strings[] = {"Amazon EC2", "1.0", NULL};
    add(table, TYPE_BIOS, BIOS_SIZE, area, strings);
}

static unsigned digit_of(char c) {
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'a') + 10;
}

/// "ec2", the 17 digits of the instance id, and again the first 12. Invented, but for "ec2".
static void make_uuid(const char* instance_id, char* text) {
    const char* const digits = instance_id + 2;  // after "i-"
    for (unsigned i = 0, n = 0; i < UUID_TEXT - 1; ++i) {
        if (i == 8 || i == 13 || i == 18 || i == 23) {
            text[i] = '-';
            continue;
        }
        text[i] = n < 3 ? "ec2"[n] : digits[(n - 3) % 17];
        ++n;
    }
    text[UUID_TEXT - 1] = 0;
}

/// The first three fields are little-endian words.
static void put_uuid(uint8_t* area, const char* text) {
    static const uint8_t places[] = {3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15};
    for (unsigned i = 0; i < sizeof places; ++i) {
        if (*text == '-') ++text;
        area[places[i]] = (uint8_t)(digit_of(text[0]) << 4 | digit_of(text[1]));
        text += 2;
    }
}

static bool has_id(const struct image_store_machine* machine) {
    const char* const id = machine->instance_id;
    return strlen(id) == 19 && strspn(id + 2, "0123456789abcdef") == 17;
}

static void add_system(struct writer* table, const struct image_store_machine* machine) {
    char uuid[UUID_TEXT];
    uint8_t area[MAX_STRUCTURE] = {[4] = 1, [0x18] = 6 /* power switch */};
    const char* strings[4] = {"Amazon EC2"};
    uint8_t count = 1;
    if (*machine->product != 0) {
        strings[count++] = machine->product;
        area[5] = count;
    }
    if (has_id(machine)) {
        make_uuid(machine->instance_id, uuid);
        put_uuid(&area[8], uuid);
        strings[count++] = uuid;
        area[7] = count;
    }
    add(table, TYPE_SYSTEM, SYSTEM_SIZE, area, strings);
}

/// Software finds the instance id in the asset tag of the board.
static void add_board(struct writer* table, const struct image_store_machine* machine,
                      uint8_t chassis) {
    if (*machine->instance_id == 0) return;
    uint8_t area[MAX_STRUCTURE] = {
        [4] = 1, [8] = 2, [9] = 1 /* hosting */, [0xb] = chassis, [0xd] = 0xa /* motherboard */};
    const char* const strings[] = {"Amazon EC2", machine->instance_id, NULL};
    add(table, TYPE_BOARD, BOARD_SIZE, area, strings);
}

static void add_chassis(struct writer* table) {
    enum { OTHER = 1, UNKNOWN = 2, SAFE = 3 };
    uint8_t area[MAX_STRUCTURE] = {
        [4] = 1, [5] = OTHER, [8] = 1, [9] = SAFE, [10] = SAFE, [11] = SAFE, [12] = UNKNOWN};
    static const char* const strings[] = {"Amazon EC2", NULL};  // vendor and asset tag
    add(table, TYPE_CHASSIS, CHASSIS_SIZE, area, strings);
}

static void put_entry(uint8_t* entry, const uint8_t* structures, size_t length) {
    const uint64_t address = (uintptr_t)structures;
    const uint32_t size = (uint32_t)length;
    memset(entry, 0, ENTRY_SIZE);
    memcpy(entry, "_SM3_", 5);
    entry[6] = ENTRY_SIZE;
    entry[7] = entry[8] = 3;  // version
    entry[10] = 1;            // of the entry point
    memcpy(&entry[12], &size, sizeof size);
    memcpy(&entry[16], &address, sizeof address);
    for (unsigned i = 0; i < ENTRY_SIZE; ++i)
        if (i != 5) entry[5] = (uint8_t)(entry[5] - entry[i]);
}

bool smbios_write(const struct image_store_machine* machine, uint8_t* place, size_t size) {
    enum { STRUCTURES = 0x20, CHASSIS_HANDLE = 3 };
    if (size < STRUCTURES) return false;
    struct writer table = {place + STRUCTURES, place + size, 0};
    add_bios(&table);
    add_system(&table, machine);
    add_board(&table, machine, CHASSIS_HANDLE);
    table.handle = CHASSIS_HANDLE;
    add_chassis(&table);
    uint8_t area[END_SIZE] = {0};
    static const char* const none[] = {NULL};
    add(&table, TYPE_END, END_SIZE, area, none);
    if (table.next == table.end) return false;
    put_entry(place, place + STRUCTURES, (size_t)(table.next - (place + STRUCTURES)));
    return true;
}

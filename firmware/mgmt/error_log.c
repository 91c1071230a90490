// SPDX-License-Identifier: Apache-2.0
#include "firmware/mgmt/error_log.h"

#include <stddef.h>

#include "firmware/lib/timer.h"
#include "firmware/mgmt/misc_ram.h"

// Header {magic, entries, total count of errors, reserved}, then the entries.
#define LOG_BASE (MAP_MISC_RAM + 0x900)
#define LOG_MAGIC_AT (LOG_BASE + 0x0)
#define LOG_ENTRIES_AT (LOG_BASE + 0x4)
#define LOG_COUNT_AT (LOG_BASE + 0x8)
#define LOG_FIRST (LOG_BASE + 0x10)
_Static_assert(0x900 + 0x10 + ERROR_LOG_ENTRIES * sizeof(struct error_entry) <= TRN_MISC_RAM_SIZE,
               "the log fits misc RAM");

void error_log_init(void) {
    if (misc_ram_read(LOG_MAGIC_AT) == ERROR_LOG_MAGIC) return;
    misc_ram_write(LOG_COUNT_AT, 0);
    misc_ram_write(LOG_ENTRIES_AT, ERROR_LOG_ENTRIES);
    misc_ram_write(LOG_MAGIC_AT, ERROR_LOG_MAGIC);
}

void error_log_add(enum error_code code, uint16_t detail, uint64_t value) {
    const uint32_t count = misc_ram_read(LOG_COUNT_AT);
    const uintptr_t entry = LOG_FIRST + count % ERROR_LOG_ENTRIES * sizeof(struct error_entry);
    misc_ram_write(entry, (uint32_t)(timer_now_us() / 1000));
    misc_ram_write(entry + 4, code | (uint32_t)detail << 16);
    misc_ram_write(entry + 8, (uint32_t)value);
    misc_ram_write(entry + 12, (uint32_t)(value >> 32));
    misc_ram_write(LOG_COUNT_AT, count + 1);  // last: readers see complete entries only
}

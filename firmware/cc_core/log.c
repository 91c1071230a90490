// SPDX-License-Identifier: Apache-2.0
#include "firmware/cc_core/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "firmware/cc_core/hardware.h"
#include "firmware/cc_core/mailbox_words.h"

#define LOG_SIZE 4096u

static char ring[LOG_SIZE];
static uint32_t head;

static void put(const char* text) {
    for (; *text; ++text) ring[head++ % LOG_SIZE] = *text;
}

void log_init(void) {
    mmio_write(CC_MAILBOX(LOG_OFFSET), (uint32_t)(uintptr_t)ring);
    mmio_write(CC_MAILBOX(LOG_SIZE), LOG_SIZE);
    mmio_write(CC_MAILBOX(LOG_HEAD), 0);
}

void log_line(const char* format, ...) {
    char line[160];
    const unsigned long now = time_ns();
    snprintf(line, sizeof line, "[%6lu.%03lu us] ", now / 1000, now % 1000);
    put(line);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    put(line);
    put("\n");
    mmio_write(CC_MAILBOX(LOG_HEAD), head);
}

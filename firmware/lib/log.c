// SPDX-License-Identifier: Apache-2.0
#include "firmware/lib/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "firmware/lib/timer.h"

enum log_level log_verbosity = LOG_INFO;

void log_line(enum log_level level, const char* format, ...) {
    static const char* const words[] = {"error: ", "warning: ", "", ""};
    if (level > log_verbosity) return;
    const unsigned long us = timer_now_us();
    va_list arguments;
    va_start(arguments, format);
    printf("[%6lu.%03lu ms] %s", us / 1000, us % 1000, words[level]);
    vprintf(format, arguments);
    printf("\n");
    va_end(arguments);
}

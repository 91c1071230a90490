// SPDX-License-Identifier: Apache-2.0
// One line per event on the console: "[   12.345 ms] mailbox: ..." .
#pragma once

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };
/// Lines above this level are not printed. Starts at LOG_INFO.
extern enum log_level log_verbosity;

void log_line(enum log_level level, const char* format, ...) __attribute__((format(printf, 2, 3)));
#define log_error(...) log_line(LOG_ERROR, __VA_ARGS__)
#define log_warn(...) log_line(LOG_WARN, __VA_ARGS__)
#define log_info(...) log_line(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_line(LOG_DEBUG, __VA_ARGS__)

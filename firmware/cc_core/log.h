// SPDX-License-Identifier: Apache-2.0
// Log lines in a ring that the host can read; LOG_* of the mailbox give its place.
#pragma once

void log_init(void);
void log_line(const char* format, ...) __attribute__((format(printf, 1, 2)));

// SPDX-License-Identifier: Apache-2.0
// Included before the sources of Verilator: what would print or abort calls the platform instead.
#pragma once

int trn_rtl_print(const char* format, ...) __attribute__((format(printf, 1, 2)));

#define VL_PRINTF trn_rtl_print
#define VL_USER_FINISH
#define VL_USER_STOP
#define VL_USER_FATAL
#define VL_USER_WARN

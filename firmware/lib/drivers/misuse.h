// SPDX-License-Identifier: Apache-2.0
// Reports to the platform that the host broke a misuse rule that only firmware can detect.
#pragma once

#include <trn/misuse_port_regs.h>

#include "firmware/lib/drivers/mmio.h"

#define MISUSE_PORT(reg) (MAP_MISUSE_PORT + TRN_MISUSE_PORT_##reg##_OFFSET)

/// `rule` is one of TRN_MISUSE_PORT_REPORT_RULE_*. Inline, so that the report has the caller's pc.
#ifdef __riscv
static inline void misuse_report(uint32_t rule, uint32_t detail) {
    mmio_write(MISUSE_PORT(DETAIL), detail);
    mmio_write(MISUSE_PORT(REPORT), rule);
}
#else  // unit tests of the portable parts
void misuse_report(uint32_t rule, uint32_t detail);
#endif

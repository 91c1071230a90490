// SPDX-License-Identifier: Apache-2.0
#include "rtl_uart.h"

#include "models/soc/uart/uart_regs.h"
#include "uart_rtl.h"

namespace example {

rtl_uart::rtl_uart(sc_core::sc_module_name name, const config& cfg)
    : block(name, trn::rtl::designs::uart, cfg.clock),
      bus(*this, "in", "", &trn::uart_regs::table),
      irq(*this, "irq", "irq"),
      line_(*this, cfg.clock.clock_hz / cfg.baud, cfg.type_ahead) {}

}  // namespace example

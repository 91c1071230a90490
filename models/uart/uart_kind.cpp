// SPDX-License-Identifier: Apache-2.0
#include "models/kind_tables.h"
#include "models/uart/uart.h"
#include "platform/framework/netlist/kind_table.h"

namespace trn::kind_tables {

kind uart_kind() {
    using c = uart::config;
    return kind_of<uart>(
        "uart", "ns16550a in 32-bit slots.",
        {{"clock_hz", &c::clock_hz, unit::hertz, "divided by 16 x divisor is the baud rate"},
         {"access_latency", &c::access_latency, "of each register access"},
         {"type_ahead", &c::type_ahead, unit::bytes, "typed characters that wait for the guest"}},
        {port::target("in", "uart.regs.yaml").of_size(0x1000),
         port::irq_in("reset", "clears all state"), port::irq_out("irq", "as IIR says")});
}

}  // namespace trn::kind_tables

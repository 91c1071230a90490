// SPDX-License-Identifier: Apache-2.0
#include "models/kind_tables.h"
#include "models/soc/uart/uart.h"
#include "platform/framework/netlist/kinds/kind_table.h"

namespace trn::kind_tables {

namespace {

template <typename Model>
kind table(const char* name, const char* doc) {
    using c = uart::config;
    auto made = kind_of<Model>(
        name, doc,
        {{"clock_hz", &c::clock_hz, unit::hertz, any_frequency,
          "divided by 16 x divisor is the baud rate"},
         {"access_latency", &c::access_latency, any_time, "of each register access"},
         {"type_ahead", &c::type_ahead, unit::bytes, within(1, MiB),
          "typed characters that wait for the guest"}},
        {port::target("in", "uart.regs.yaml").of_size(0x1000),
         port::irq_in("reset", "clears all state"), port::irq_out("irq", "as IIR says")});
    made.events = {{"printed", "text", "output, in scenarios"}};
    return made;
}

}  // namespace

kind uart_kind() {
    return table<uart>("uart", "ns16550a in 32-bit slots.");
}
kind byte_uart_kind() {
    return table<byte_uart>("byte_uart", "The same, which takes accesses of one byte too.");
}

kind program_uart_kind() {
    return table<program_uart>("program_uart", "A byte_uart for a program: no console.");
}

}  // namespace trn::kind_tables

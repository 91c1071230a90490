// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/netlist/kinds/kind_library.h"
#include "platform/framework/netlist/kinds/kind_table.h"
#include "rtl_uart.h"

namespace {

using config = example::rtl_uart::config;
using trn::rtl::clocking;

std::optional<std::string> check(const config& cfg) {
    if (cfg.baud <= cfg.clock.clock_hz / 16) return std::nullopt;
    return "baud is more than a sixteenth of clock_hz";
}

trn::kind rtl_uart_kind() {
    using namespace trn;
    using namespace trn::kind_limits;
    return kind_of<example::rtl_uart>(
        "rtl_uart", "The RTL of a ns16550a in 32-bit slots.",
        {{"clock_hz", in(&config::clock, &clocking::clock_hz), unit::hertz, any_frequency,
          "of the block"},
         {"reset_cycles", in(&config::clock, &clocking::reset_cycles), within(1, 1'000'000),
          "of each reset"},
         {"time_out", in(&config::clock, &clocking::time_out), within(1, 1'000'000'000),
          "cycles until a handshake is given up"},
         {"seed", in(&config::clock, &clocking::seed), bits(31),
          "of registers without reset; 0: they begin with 0"},
         {"baud", &config::baud, within(300, 100'000'000), "of the terminal"},
         {"type_ahead", &config::type_ahead, unit::bytes, within(1, MiB),
          "typed characters that wait for the UART"}},
        {port::target("in", "uart.regs.yaml, by APB").of_size(0x1000),
         port::irq_in("reset", "resets the RTL"), port::irq_out("irq", "as IIR says")},
        check);
}

}  // namespace

TRNVP_KINDS(rtl_uart_kind())

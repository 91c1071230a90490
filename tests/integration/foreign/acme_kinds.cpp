// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/foreign/acme_kinds.h"

#include "models/kinds.h"
#include "platform/framework/bridges/foreign_ports.h"
#include "platform/framework/netlist/kinds/kind_table.h"
#include "tests/integration/foreign/acme_cpu.h"
#include "tests/integration/foreign/acme_ddr.h"
#include "tests/integration/foreign/acme_gpio.h"
#include "tests/integration/foreign/acme_timer.h"

namespace acme {

namespace {

using namespace trn;
using namespace trn::kind_limits;

kind timer_kind() {
    using c = timer::config;
    return kind_of<timer>(
        "acme_timer", "A timer that waits for each access.",
        {{"access_latency", &c::access_latency, any_time, "of each access"}},
        {foreign_target("in", &timer::in, coding_style::loosely_timed, "registers")
             .unlimited()
             .of_size(0x1000),
         signal_out("irq", &timer::irq, "the time has passed"),
         signal_in("rst", &timer::rst, "reset")});
}

kind ddr_kind() {
    using c = ddr::config;
    return kind_of<ddr>("acme_ddr", "A memory controller with four phases.",
                        {{"size", &c::size, unit::bytes, within(1 * KiB, 1 * GiB), "capacity"},
                         {"depth", &c::depth, within(1, 64), "requests at a time"},
                         {"is_mute", &c::is_mute, "never responds"},
                         {"breaks_protocol", &c::breaks_protocol, "sends BEGIN_RESP twice"}},
                        {foreign_target("in", &ddr::in, coding_style::approximately_timed, "memory")
                             .unlimited()
                             .of_size(&c::size)});
}

kind gpio_kind() {
    return kind_of<gpio>(
        "acme_gpio", "Registers with the effects of IP-XACT.", {},
        {foreign_target("in", &gpio::in, coding_style::restricted, "registers").of_size(0x1000),
         signal_out("irq", &gpio::irq, "an output has changed")});
}

template <unsigned Width>
kind cpu_kind(const char* name) {
    using module = cpu<Width>;
    using c = typename module::config;
    return kind_of<module>(
        name, "A processor: a thread with a quantum keeper.",
        {{"start", &c::start, unit::address, any_number, "address of its program"},
         {"cycle", &c::cycle, any_time, "of an instruction"},
         {"quantum", &c::quantum, any_time, "global quantum"},
         {"uses_pointers", &c::uses_pointers, "asks for DMI"}},
        {foreign_initiator("data", &module::data, coding_style::loosely_timed, "code and data"),
         signal_in("irq", &module::irq, "ends wait_irq"), signal_in("rst", &module::rst, "reset")});
}

}  // namespace

const kind_list& kinds() {
    static const kind_list list = [] {
        kind_list all = trn::kinds();
        all.push_back(timer_kind());
        all.push_back(ddr_kind());
        all.push_back(gpio_kind());
        all.push_back(cpu_kind<32>("acme_cpu"));
        all.push_back(cpu_kind<64>("acme_cpu64"));
        return all;
    }();
    return list;
}

}  // namespace acme

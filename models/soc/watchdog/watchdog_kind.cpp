// SPDX-License-Identifier: Apache-2.0
#include "models/kind_tables.h"
#include "models/soc/watchdog/watchdog.h"
#include "platform/framework/netlist/kinds/kind_table.h"

namespace trn::kind_tables {

kind watchdog_kind() {
    using c = watchdog::config;
    return kind_of<watchdog>(
        "watchdog", "Two-stage watchdog.",
        {{"access_latency", &c::access_latency, any_time, "of each register access"}},
        {port::target("in", "watchdog.regs.yaml").of_size(0x1000),
         port::irq_in("reset", "stops it"),
         port::irq_in("needed", "high ends an announced sleep").optional(),
         port::irq_out("bark", "first stage: interrupt"),
         port::irq_out("bite", "second stage: reset request")});
}

}  // namespace trn::kind_tables

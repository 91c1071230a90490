// SPDX-License-Identifier: Apache-2.0

#include "models/kind_tables.h"
#include "models/processor/interrupts/aclint.h"
#include "platform/framework/netlist/kinds/kind_table.h"

namespace trn::kind_tables {

kind aclint_kind() {
    using c = aclint::config;
    return kind_of<aclint>(
        "aclint", "Machine timers and software interrupts, in the layout of the SiFive CLINT.",
        {{"harts", &c::harts, within(1, 64), "machine timers and software interrupts"},
         {"tick", &c::tick, positive_time, "of mtime"},
         {"access_latency", &c::access_latency, any_time, "of each register access"}},
        {port::target("in", "its registers").of_size(0xc000),
         port::irq_in("reset", "clears MSIP and MTIMECMP").optional(),
         port::irq_in("power_lost", "MTIME starts again at 0").optional(),
         port::irq_out("software", "MSIP, by hart").times(&c::harts),
         port::irq_out("timer", "MTIP, by hart").times(&c::harts),
         port::provides<riscv::mtime_source>("time", "mtime")});
}

}  // namespace trn::kind_tables

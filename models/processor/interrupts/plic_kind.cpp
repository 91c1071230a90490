// SPDX-License-Identifier: Apache-2.0

#include "models/kind_tables.h"
#include "models/processor/interrupts/plic.h"
#include "platform/framework/netlist/kinds/kind_table.h"

namespace trn::kind_tables {

kind plic_kind() {
    using c = plic::config;
    return kind_of<plic>(
        "plic", "Platform-level interrupt controller (RISC-V PLIC 1.0.0).",
        {{"sources", &c::sources, within(0, 1023), "numbered from 1"},
         {"contexts", &c::contexts, within(1, 64), "a hart in a privilege mode each"},
         {"access_latency", &c::access_latency, any_time, "of each register access"}},
        {port::target("in", "its registers").of_size(0x400'0000),
         port::irq_in("source", "line n is source n; line 0 is unused").of_lines([](const c& cfg) {
             return cfg.sources + 1;
         }),
         port::irq_in("reset", "drops enables and services"),
         port::irq_out("out", "by context").times(&c::contexts)});
}

}  // namespace trn::kind_tables

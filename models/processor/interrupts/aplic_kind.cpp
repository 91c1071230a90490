// SPDX-License-Identifier: Apache-2.0

#include "models/kind_tables.h"
#include "models/processor/interrupts/aplic.h"
#include "platform/framework/netlist/kinds/kind_table.h"

namespace trn::kind_tables {

kind aplic_kind() {
    using c = aplic::config;
    return kind_of<aplic>(
        "aplic",
        "Advanced platform-level interrupt controller (RISC-V AIA 1.0): a domain of machine mode "
        "and its child of supervisor mode.",
        {{"sources", &c::sources, within(1, 1023), "numbered from 1"},
         {"harts", &c::harts, within(1, 512), "of delivery by lines"},
         {"access_latency", &c::access_latency, any_time, "of each register access"}},
        {port::target("machine", "registers of the root domain").of_size(0x8000),
         port::target("supervisor", "registers of its child").of_size(0x8000),
         port::initiator("memory", "MSIs").optional(),
         port::irq_in("source", "line n is source n; line 0 is unused").of_lines([](const c& cfg) {
             return cfg.sources + 1;
         }),
         port::irq_in("reset", "clears both domains").optional(),
         port::irq_out("machine_external", "by hart").times(&c::harts).optional(),
         port::irq_out("supervisor_external", "by hart").times(&c::harts).optional()});
}

}  // namespace trn::kind_tables

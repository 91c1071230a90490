// SPDX-License-Identifier: Apache-2.0

#include "models/kind_tables.h"
#include "models/processor/interrupts/imsic.h"
#include "platform/framework/netlist/kinds/kind_table.h"

namespace trn::kind_tables {

kind imsic_kind() {
    using c = imsic::config;
    return kind_of<imsic>(
        "imsic", "Incoming MSI controller of a hart (RISC-V AIA 1.0): machine and supervisor file.",
        {{"identities", &c::identities, one_of(63, 127, 255, 511, 1023, 2047),
          "interrupts of each file"},
         {"access_latency", &c::access_latency, any_time, "of each register access"}},
        {port::target("machine", "page of the machine file").of_size(0x1000),
         port::target("supervisor", "page of the supervisor file").of_size(0x1000),
         port::irq_in("reset", "clears both files").optional(),
         port::irq_out("machine_external", "MEIP of the hart"),
         port::irq_out("supervisor_external", "SEIP of the hart"),
         port::provides<riscv::interrupt_files>("files", "for the hart's CSRs")});
}

}  // namespace trn::kind_tables

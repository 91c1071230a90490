// SPDX-License-Identifier: Apache-2.0
#include "models/kind_tables.h"
#include "models/soc/fis/fis.h"
#include "models/soc/fis/fis_regs.h"
#include "platform/framework/netlist/kinds/kind_table.h"

namespace trn::kind_tables {

kind fis_kind() {
    using c = fis::config;
    return kind_of<fis>(
        "fis", "The error blocks of a SENG's DMA engines.",
        {{"engines", &c::engines, within(1, 4096), "one block each"},
         {"stride", &c::stride, unit::bytes,
          within(fis_regs::table.size, GiB).multiples_of(fis_regs::table.width),
          "from block to block"},
         {"register_latency", &c::register_latency, any_time, "of each register access"}},
        {port::target("registers", "the blocks").of_size([](const c& cfg) {
             return cfg.engines * cfg.stride;
         }),
         port::irq_in("power_lost", "high: reset values").optional()});
}

}  // namespace trn::kind_tables

// SPDX-License-Identifier: Apache-2.0
#include "models/kind_tables.h"
#include "models/soc/finisher/finisher.h"
#include "platform/framework/netlist/kinds/kind_table.h"

namespace trn::kind_tables {

kind finisher_kind() {
    return kind_of<finisher>("finisher", "SiFive's test finisher: software powers off or resets.",
                             {},
                             {port::target("in", "one word").of_size(finisher::size),
                              port::irq_out("power_off", "high from the request on"),
                              port::irq_out("reset", "a pulse")});
}

}  // namespace trn::kind_tables

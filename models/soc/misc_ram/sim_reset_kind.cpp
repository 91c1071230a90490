// SPDX-License-Identifier: Apache-2.0
#include "models/kind_tables.h"
#include "models/soc/misc_ram/sim_reset.h"
#include "platform/framework/netlist/kinds/kind_table.h"

namespace trn::kind_tables {

kind sim_reset_kind() {
    using c = sim_reset::config;
    return kind_of<sim_reset>(
        "sim_reset", "The reset word of the simulator revisions, served by firmware.",
        {{"access_latency", &c::access_latency, any_time, "of each access"}},
        {port::target("host", "the word that the host writes and polls").of_size(0x1000),
         port::target("firmware", "the requested map, and its acknowledgement").of_size(0x1000),
         port::irq_in("power_lost", "high: the request is lost").optional(),
         port::irq_out("request", "the host waits")});
}

}  // namespace trn::kind_tables

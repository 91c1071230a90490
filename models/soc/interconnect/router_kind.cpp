// SPDX-License-Identifier: Apache-2.0
#include "models/kind_tables.h"
#include "platform/framework/netlist/kinds/kind_table.h"
#include "platform/framework/tlm/router.h"

namespace trn::kind_tables {

kind router_kind() {
    using c = router::config;
    return kind_of<router>(
        "router", "Decodes addresses to targets: an interconnect, the windows of a BAR, a bus.",
        {{"hop_latency", &c::hop_latency, any_time, "added to each transaction"}},
        {port::target("target", "any number of initiators").unlimited(),
         port::initiator("initiator", "one range per binding").unlimited().with_ranges()});
}

}  // namespace trn::kind_tables

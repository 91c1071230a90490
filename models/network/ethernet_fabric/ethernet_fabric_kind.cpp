// SPDX-License-Identifier: Apache-2.0

#include "models/kind_tables.h"
#include "models/network/ethernet_fabric/ethernet_fabric.h"
#include "platform/framework/netlist/kinds/kind_table.h"

namespace trn::kind_tables {

kind ethernet_fabric_kind() {
    using c = ethernet_fabric::config;
    auto made = kind_of<ethernet_fabric>(
        "ethernet_fabric", "The Ethernet between servers: many paths, latency, bandwidth, loss.",
        {{"ports", &c::ports, within(1, 65536), "cards"},
         {"port_bytes_per_second", &c::port_bytes_per_second, unit::bytes_per_second, any_rate,
          "of each direction of a port"},
         {"core_bytes_per_second", &c::core_bytes_per_second, unit::bytes_per_second,
          any_rate.or_zero(), "of all ports together; 0: non-blocking"},
         {"latency", &c::latency, any_time, "of the shortest path"},
         {"paths", &c::paths, within(1, 65536), "between any two ports"},
         {"spread", &c::spread, any_time, "of the longest path over the shortest"},
         {"loss_ppm", &c::loss_ppm, within(0, 1'000'000), "packets lost of a million"}},
        {port::plug("port", "to a card; its address is the port's number")
             .times(&c::ports)
             .optional()});
    made.statistics = {{"packets", "", "sent by cards"},
                       {"bytes", "bytes", "of data in these packets"},
                       {"lost_packets", "", "dropped by the network"},
                       {"misaddressed_packets", "", "to an address without a card"}};
    made.events = {{"packet", "from, to, bytes", "from its send to its arrival, by ports"}};
    return made;
}

}  // namespace trn::kind_tables

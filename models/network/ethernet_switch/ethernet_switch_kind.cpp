// SPDX-License-Identifier: Apache-2.0

#include "models/kind_tables.h"
#include "models/network/ethernet_switch/ethernet_switch.h"
#include "platform/framework/netlist/kinds/kind_table.h"

namespace trn::kind_tables {

kind ethernet_switch_kind() {
    using c = ethernet_switch::config;
    auto made = kind_of<ethernet_switch>(
        "ethernet_switch", "An Ethernet switch between the ENA cards of servers.",
        {{"ports", &c::ports, within(1, 4096), "cards"},
         {"port_bytes_per_second", &c::port_bytes_per_second, unit::bytes_per_second, any_rate,
          "of each direction of a port"},
         {"latency", &c::latency, any_time, "between any two ports"},
         {"buffer", &c::buffer, unit::bytes, within(64 * KiB, 64 * GiB),
          "that wait for a port; more are lost"},
         {"loss_ppm", &c::loss_ppm, within(0, 1'000'000), "packets lost of a million"}},
        {port::plug("port", "to an ena_card").times(&c::ports).optional()});
    made.statistics = {
        {"packets", "", "received"},
        {"bytes", "bytes", "of these packets"},
        {"flooded_packets", "", "sent to all ports: broadcasts, and packets to an unknown address"},
        {"lost_packets", "", "dropped by a full buffer or by `loss_ppm`"}};
    return made;
}

}  // namespace trn::kind_tables

// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "models/kind_tables.h"
#include "models/scale_up/neuron_link/fabric_address.h"
#include "models/scale_up/neuron_link/neuron_link.h"
#include "platform/framework/netlist/kinds/kind_table.h"

namespace trn::kind_tables {

kind neuron_link_kind() {
    using c = neuron_link::config;
    auto made = kind_of<neuron_link>(
        "neuron_link", "A chip's interface to other chips: windows, ports, routing table, transit.",
        {{"host_bit", &c::host_bit, within(0, 47),
          "of an AXI address: host memory, which others do not reach"},
         {"dies", &c::dies, within(1, 2), "with an AXI each; bit 47 selects"},
         {"latency", &c::latency, any_time, "into, out of or through the chip"},
         {"completion_timeout", &c::completion_timeout, any_time,
          "time limit of a partner's response"},
         {"hop_limit", &c::hop_limit, within(1, fabric::max_hops),
          "maximum number of forwarding chips"},
         {"blocks", &c::blocks, within(1, 64), "of the chip, that hold its links"},
         {"links_per_block", &c::links_per_block, within(1, 64), "of eight lanes each"}},
        {port::target("window", "PCIE_B0_0 to 3: a neighbour's AXI space")
             .of_size(neuron_link::window_size)
             .times(neuron_link::windows)
             .optional(),
         port::target("fabric", "any chip's AXI space, by fabric address")
             .of_size(neuron_link::fabric_size)
             .times(neuron_link::windows)
             .optional(),
         port::target("control", "its registers").of_size(0x1000),
         port::initiator("axi", "into this chip, by die").times(&c::dies),
         port::plug("port", "cables to neighbours and switches")
             .times(neuron_link::ports)
             .within_lanes([](const c& cfg) -> std::uint64_t { return cfg.lanes(); })
             .in_blocks_of([](const c& cfg) -> std::uint64_t { return cfg.lanes_per_block(); })
             .optional(),
         port::irq_out("irq",
                       "a port changed, a partner sent a notice, or a configuration access ended"),
         port::irq_in("power_lost", "high: links are down, tables cleared")});
    made.statistics = {
        {"transit_bytes", "bytes", "forwarded for other chips"},
        {"refused", "",
         "accesses without a route, with a wrong address, or through a link that is down"},
        {"timeouts", "", "accesses without a completion"}};
    made.events = {{"transit", "bytes", "bytes that the chip forwards for others"}};
    return made;
}

}  // namespace trn::kind_tables

// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdint>

#include "models/kind_tables.h"
#include "models/scale_up/neuron_switch/neuron_switch.h"
#include "platform/framework/config/document.h"
#include "platform/framework/netlist/kinds/kind_table.h"

namespace trn::config {

template <>
struct choices<switch_part> {
    static constexpr std::array list{choice<switch_part>{"lanes160", switch_part::lanes160},
                                     choice<switch_part>{"lanes320", switch_part::lanes320},
                                     choice<switch_part>{"ualink", switch_part::ualink}};
};

template <>
struct choices<switch_tier> {
    static constexpr std::array list{choice<switch_tier>{"none", switch_tier::none},
                                     choice<switch_tier>{"sled", switch_tier::sled},
                                     choice<switch_tier>{"rack", switch_tier::rack}};
};

}  // namespace trn::config

namespace trn::kind_tables {

kind neuron_switch_kind() {
    using c = neuron_switch::config;
    auto made = kind_of<neuron_switch>(
        "neuron_switch", "Forwards accesses to the port that claimed their target chip.",
        {{"part", &c::part, "160 lanes and 20 ports, 320 and 40 (PCIe Gen6), or UALink"},
         {"planes", &c::planes, within(1, 256), "parallel parts behind one set of ports"},
         {"ports", &c::ports, within(0, neuron_switch::max_ports), "0: the part's"},
         {"latency", &c::latency, any_time, "of a crossing; 0: the part's"},
         {"notice_delay", &c::notice_delay, any_time, "in which changes of the table are gathered"},
         {"tier", &c::tier, "of sled or rack, for firmware to read"},
         {"rack", &c::rack, within(0, 1), "its rack, for firmware to read"},
         {"server", &c::server, within(0, 31), "likewise"},
         {"serial", &c::serial, unit::address, any_number, "likewise"}},
        {port::plug("port", "cables to chips")
             .times([](const c& cfg) { return std::uint64_t{cfg.port_count()}; })
             .within_lanes([](const c& cfg) { return std::uint64_t{cfg.lanes()}; })
             .optional()},
        &neuron_switch::check);
    made.statistics = {{"portN_in_wire_bytes", "bytes", "received by a port, with headers"},
                       {"portN_out_wire_bytes", "bytes", "sent by a port, with headers"},
                       {"lanes_used", "", "lanes of all links"},
                       {"table_changes", "", "of the routes"},
                       {"unroutable", "", "accesses that no chip had claimed"}};
    return made;
}

}  // namespace trn::kind_tables

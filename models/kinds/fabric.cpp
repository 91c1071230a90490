// SPDX-License-Identifier: Apache-2.0
#include "models/kinds/tables.h"
#include "models/neuron_link/neuron_link.h"
#include "models/neuron_switch/neuron_switch.h"
#include "models/pcie_link/pcie_link.h"
#include "platform/config/document.h"
#include "platform/netlist/kind_table.h"

namespace trn::config {

template <>
struct choices<link_protocol> {
    static constexpr std::array list{choice<link_protocol>{"pcie", link_protocol::pcie},
                                     choice<link_protocol>{"ualink", link_protocol::ualink}};
};
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

kind pcie_link_kind() {
    using c = pcie_link::config;
    const auto lanes = [](const c& cfg) -> std::uint64_t {
        return std::uint64_t{cfg.lanes} * cfg.links;
    };
    return kind_of<pcie_link>(
        "pcie_link", "A cable between two plugs: PCI Express Gen1 to Gen6, or UALink.",
        {{"protocol", &c::protocol, "what speeds and flits there are"},
         {"generation", &c::generation, "the highest speed; UALink has 1"},
         {"lanes", &c::lanes, "of each link"},
         {"links", &c::links, "equal links that bytes are striped over"},
         {"latency", &c::latency, "of a crossing"},
         {"max_payload", &c::max_payload, "bytes of a packet"},
         {"max_read_request", &c::max_read_request, "bytes"},
         {"posted_headers", &c::posted_headers, "credits of each link: writes under way"},
         {"posted_data", &c::posted_data, unit::bytes, "credits for their data"},
         {"non_posted_headers", &c::non_posted_headers, "credits: read requests under way"},
         {"non_posted_data", &c::non_posted_data, unit::bytes, "credits: configuration writes"},
         {"completion_headers", &c::completion_headers, "credits: packets of read data under way"},
         {"completion_data", &c::completion_data, unit::bytes, "credits for their data"},
         {"detect_time", &c::detect_time, "of training"},
         {"polling_time", &c::polling_time, "of training"},
         {"configuration_time", &c::configuration_time, "of training"},
         {"recovery_time", &c::recovery_time, "of training, for each raise of the speed"},
         {"replay_time", &c::replay_time, "that a flit with a bad CRC costs its direction"},
         {"crc_rate", &c::crc_rate, "flits with a bad CRC per flit"},
         {"needs_training", &c::needs_training, "down until both devices ask for the link"}},
        {port::plug("a", "one device").with_lanes(lanes).in_links(&c::links),
         port::plug("b", "the other device").with_lanes(lanes).in_links(&c::links)},
        &pcie_link::check);
}

kind neuron_link_kind() {
    using c = neuron_link::config;
    return kind_of<neuron_link>(
        "neuron_link", "A chip's way to other chips: windows, ports, routing table, transit.",
        {{"host_bit", &c::host_bit, "of an AXI address: host memory, which others do not reach"},
         {"dies", &c::dies, "with an AXI each; bit 47 selects"},
         {"latency", &c::latency, "into, out of or through the chip"},
         {"completion_timeout", &c::completion_timeout, "until a silent partner is given up"},
         {"hop_limit", &c::hop_limit, "chips that may pass an access on"},
         {"blocks", &c::blocks, "of the chip, that its links are in"},
         {"links_per_block", &c::links_per_block, "of eight lanes each"}},
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
         port::irq_out("irq", "a port changed, a partner calls, a configuration access is over"),
         port::irq_in("power_lost", "high: links are down, tables forgotten")},
        &neuron_link::check);
}

kind neuron_switch_kind() {
    using c = neuron_switch::config;
    return kind_of<neuron_switch>(
        "neuron_switch", "Sends accesses to the port that claimed the chip they are for.",
        {{"part", &c::part, "160 lanes and 20 ports, 320 and 40 (PCIe Gen6), or UALink"},
         {"planes", &c::planes, "parts side by side behind one set of ports"},
         {"ports", &c::ports, "0: the part's"},
         {"latency", &c::latency, "of a crossing; 0: the part's"},
         {"notice_delay", &c::notice_delay, "in which changes of the table are gathered"},
         {"tier", &c::tier, "of sled or rack, for firmware to read"},
         {"rack", &c::rack, "where it stands, for firmware to read"},
         {"server", &c::server, "likewise"},
         {"serial", &c::serial, unit::address, "likewise"}},
        {port::plug("port", "cables to chips")
             .times([](const c& cfg) { return std::uint64_t{cfg.port_count()}; })
             .within_lanes([](const c& cfg) { return std::uint64_t{cfg.lanes()}; })
             .optional()},
        &neuron_switch::check);
}

}  // namespace trn::kind_tables

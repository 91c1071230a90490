// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdint>

#include "models/kind_tables.h"
#include "models/pcie/pcie_link/pcie_link.h"
#include "platform/framework/config/document.h"
#include "platform/framework/netlist/kinds/kind_table.h"

namespace trn::config {

template <>
struct choices<link_protocol> {
    static constexpr std::array list{choice<link_protocol>{"pcie", link_protocol::pcie},
                                     choice<link_protocol>{"ualink", link_protocol::ualink}};
};

}  // namespace trn::config

namespace trn::kind_tables {

kind pcie_link_kind() {
    using c = pcie_link::config;
    const auto lanes = [](const c& cfg) -> std::uint64_t {
        return std::uint64_t{cfg.lanes} * cfg.links;
    };
    auto made = kind_of<pcie_link>(
        "pcie_link", "A cable between two plugs: PCI Express Gen1 to Gen6, or UALink.",
        {{"protocol", &c::protocol, "determines the speeds and flits"},
         {"generation", &c::generation, within(1, 6), "the highest speed; UALink has 1"},
         {"lanes", &c::lanes, within(1, 16).powers_of_two(), "of each link"},
         {"links", &c::links, within(1, pcie_link::max_links),
          "equal links over which bytes are striped"},
         {"latency", &c::latency, any_time, "of a crossing"},
         {"max_payload", &c::max_payload, within(64, 4096).powers_of_two(), "bytes of a packet"},
         {"max_read_request", &c::max_read_request, within(64, 4096), "bytes"},
         {"posted_headers", &c::posted_headers, within(1, 1 << 20),
          "credits of each link: writes under way"},
         {"posted_data", &c::posted_data, unit::bytes, within(64, GiB), "credits for their data"},
         {"non_posted_headers", &c::non_posted_headers, within(1, 1 << 20),
          "credits: read requests under way"},
         {"non_posted_data", &c::non_posted_data, unit::bytes, within(16, GiB),
          "credits: configuration writes"},
         {"completion_headers", &c::completion_headers, within(1, 1 << 20),
          "credits: packets of read data under way"},
         {"completion_data", &c::completion_data, unit::bytes, within(64, GiB),
          "credits for their data"},
         {"detect_time", &c::detect_time, any_time, "of training"},
         {"polling_time", &c::polling_time, any_time, "of training"},
         {"configuration_time", &c::configuration_time, any_time, "of training"},
         {"recovery_time", &c::recovery_time, any_time, "of training, for each raise of the speed"},
         {"replay_time", &c::replay_time, any_time,
          "that a flit with a bad CRC costs its direction"},
         {"crc_rate", &c::crc_rate, within(0.0, pcie_link::max_errors),
          "flits with a bad CRC per flit"},
         {"needs_training", &c::needs_training, "down until both devices ask for the link"}},
        {port::plug("a", "one device").with_lanes(lanes).in_links(&c::links).passing_on(),
         port::plug("b", "the other device").with_lanes(lanes).in_links(&c::links).passing_on()},
        &pcie_link::check);
    made.statistics = {
        {"DIRECTION_wire_bytes", "bytes", "with headers; DIRECTION is a_to_b or b_to_a"},
        {"DIRECTION_payload_bytes", "bytes", "of data"},
        {"DIRECTION_packets", "", "TLPs"},
        {"DIRECTION_replays", "", "flits sent again"},
        {"DIRECTION_replay_rollovers", "", "times that the replays made the link train again"},
        {"DIRECTION_posted_credit_waits", "", "times that a write waited for credits"},
        {"DIRECTION_non_posted_credit_waits", "", "times that a read waited for credits"},
        {"DIRECTION_completion_credit_waits", "", "times that a completion waited for credits"},
        {"downs", "", "times that the link went down"},
        {"refused", "", "accesses while it was down"}};
    made.events = {{"read", "bytes", "bytes of an operation, while they occupy it"},
                   {"write", "bytes", "likewise"}};
    return made;
}

}  // namespace trn::kind_tables

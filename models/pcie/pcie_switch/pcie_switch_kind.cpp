// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "models/kind_tables.h"
#include "models/pcie/pcie_switch/pcie_switch.h"
#include "platform/framework/config/document.h"
#include "platform/framework/netlist/kinds/kind_table.h"

template <>
struct trn::config::choices<trn::pcie_switch_size> {
    static constexpr std::array list{
        trn::config::choice<trn::pcie_switch_size>{"lanes160", trn::pcie_switch_size::lanes160},
        trn::config::choice<trn::pcie_switch_size>{"lanes320", trn::pcie_switch_size::lanes320}};
};

namespace trn::kind_tables {

kind pcie_switch_kind() {
    using c = pcie_switch::config;
    auto made = kind_of<pcie_switch>(
        "pcie_switch", "A PCI Express switch: one port up, the others down.",
        {{"size", &c::size, "lanes160: 20 ports of 8 lanes; lanes320: 40"},
         {"generation", &c::generation, within(1, 6), "of every port: 2.5 to 64 GT/s"},
         {"up_lanes", &c::up_lanes, within(8, 64).multiples_of(8),
          "of the upstream port, a multiple of 8"},
         {"ports", &c::ports, within(0, 39),
          "downstream ports in use, others are strapped off; 0: all"},
         {"latency", &c::latency, any_time, "once through"}},
        {port::plug("up", "toward the root complex")
             .with_lanes(&c::up_lanes)
             .passing_on()
             .facing(port_side::upstream),
         port::plug("down", "toward chips, cards and switches")
             .times([](const c& cfg) -> std::uint64_t { return cfg.down_ports(); })
             .with_lanes(c::lanes_per_port)
             .passing_on()
             .facing(port_side::downstream)
             .optional()},
        [](const c& cfg) -> std::optional<std::string> {
            if (cfg.ports > cfg.max_down_ports())
                return "the upstream port leaves " + std::to_string(cfg.max_down_ports()) +
                       " ports";
            return std::nullopt;
        });
    made.statistics = {
        {"requests_down", "", "from upstream"},
        {"requests_up", "", "to upstream, without those through DMI"},
        {"peer_requests", "", "between downstream ports, without those through DMI"},
        {"refused_requests", "", "without a target, or blocked by access control"},
        {"redirected_completions", "", "sent upstream by access control"},
        {"PORT_bytes_in", "bytes", "received by a port with traffic: up, down0, down1, ..."},
        {"PORT_bytes_out", "bytes", "sent by it"}};
    return made;
}

}  // namespace trn::kind_tables

// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>

#include "models/ethernet_switch/ethernet_switch.h"
#include "models/kind_tables.h"
#include "platform/framework/netlist/kind_table.h"

namespace trn::kind_tables {

kind ethernet_switch_kind() {
    using c = ethernet_switch::config;
    return kind_of<ethernet_switch>(
        "ethernet_switch", "An Ethernet switch between the ENA cards of servers.",
        {{"ports", &c::ports, "cards"},
         {"port_bytes_per_second", &c::port_bytes_per_second, unit::bytes_per_second,
          "of each direction of a port"},
         {"latency", &c::latency, "between any two ports"},
         {"buffer", &c::buffer, unit::bytes, "that wait for a port; more are lost"},
         {"loss_ppm", &c::loss_ppm, "packets lost of a million"}},
        {port::plug("port", "to an ena_card").times(&c::ports).optional()},
        [](const c& cfg) -> std::optional<std::string> {
            if (cfg.ports == 0 || cfg.ports > 4096) return "a switch has 1 to 4096 ports";
            if (cfg.port_bytes_per_second == 0) return "a port has a rate";
            if (cfg.buffer < 65536) return "a port has a buffer of at least 64 KiB";
            if (cfg.loss_ppm > 1'000'000) return "loss is at most 1000000 of a million";
            return std::nullopt;
        });
}

}  // namespace trn::kind_tables

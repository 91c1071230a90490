// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>

#include "models/ethernet_fabric/ethernet_fabric.h"
#include "models/kind_tables.h"
#include "platform/framework/netlist/kind_table.h"

namespace trn::kind_tables {

kind ethernet_fabric_kind() {
    using c = ethernet_fabric::config;
    return kind_of<ethernet_fabric>(
        "ethernet_fabric", "The Ethernet between servers: many paths, latency, bandwidth, loss.",
        {{"ports", &c::ports, "cards"},
         {"port_bytes_per_second", &c::port_bytes_per_second, unit::bytes_per_second,
          "of each direction of a port"},
         {"core_bytes_per_second", &c::core_bytes_per_second, unit::bytes_per_second,
          "of all ports together; 0: non-blocking"},
         {"latency", &c::latency, "of the shortest path"},
         {"paths", &c::paths, "between any two ports"},
         {"spread", &c::spread, "of the longest path over the shortest"},
         {"loss_ppm", &c::loss_ppm, "packets lost of a million"}},
        {port::plug("port", "to a card; its address is the port's number")
             .times(&c::ports)
             .optional()},
        [](const c& cfg) -> std::optional<std::string> {
            if (cfg.ports == 0 || cfg.ports > 65536) return "a fabric has 1 to 65536 ports";
            if (cfg.paths == 0) return "there is at least one path";
            if (cfg.loss_ppm > 1'000'000) return "loss is at most 1000000 of a million";
            return std::nullopt;
        });
}

}  // namespace trn::kind_tables

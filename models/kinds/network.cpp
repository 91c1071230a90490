// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <bit>

#include "models/efa/efa.h"
#include "models/ethernet_fabric/ethernet_fabric.h"
#include "models/kinds/tables.h"
#include "platform/netlist/kind_table.h"

template <>
struct trn::config::choices<trn::efa_generation> {
    static constexpr std::array list{
        trn::config::choice<trn::efa_generation>{"v2", trn::efa_generation::v2},
        trn::config::choice<trn::efa_generation>{"v3", trn::efa_generation::v3},
        trn::config::choice<trn::efa_generation>{"v4", trn::efa_generation::v4}};
};

namespace trn::kind_tables {

kind efa_kind() {
    using c = efa::config;
    return kind_of<efa>(
        "efa", "An EFA card: queue pairs that move data between servers' memories.",
        {{"generation", &c::generation, "v2: 100 Gb/s, v3: 200 Gb/s, v4: 400 Gb/s"},
         {"rate", &c::rate, unit::bytes_per_second, "of each direction; 0: the generation's"},
         {"packet", &c::packet, unit::bytes, "of data in a packet"},
         {"window", &c::window, "packets that are not acknowledged"},
         {"retries", &c::retries, "of a packet, before its request fails"},
         {"processing", &c::processing, "in each card, each way"},
         {"retransmit", &c::retransmit, "shortest wait for an acknowledgement"}},
        {port::target("registers", "its registers").of_size(0x10000),
         port::initiator("dma", "bus addresses of its server"),
         port::plug("net", "to an ethernet_fabric").optional(),
         port::irq_out("irq", "for MSI-X vector 0").optional(),
         port::irq_in("reset", "high: forgets all")},
        [](const c& cfg) -> std::optional<std::string> {
            if (cfg.packet < 256 || cfg.packet > 65536) return "a packet has 256 to 65536 bytes";
            if (cfg.window == 0) return "the window has at least one packet";
            return std::nullopt;
        });
}

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

// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>

#include "models/ena_card/ena_card.h"
#include "models/kind_tables.h"
#include "platform/framework/netlist/kind_table.h"

namespace trn::kind_tables {

kind ena_card_kind() {
    using c = ena_card::config;
    return kind_of<ena_card>(
        "ena_card", "An ENA network card: the Linux driver for ENA drives it.",
        {{"serial", &c::serial, unit::address, "of the card"},
         {"mac", &c::mac, unit::address,
          "MAC address, the first byte highest; 0: 02, and 40 bits of the serial number"},
         {"rate", &c::rate, unit::bytes_per_second, "of each direction"},
         {"queues", &c::queues, "of each direction"},
         {"vectors", &c::vectors, "MSI-X: one for commands, one for each pair of queues"},
         {"low_latency_queues", &c::low_latency_queues, "of those to send; 0: none"},
         {"shared_entries", &c::shared_entries, "other processes can map low latency queues"},
         {"processing", &c::processing, "of a packet, each way"},
         {"keep_alive", &c::keep_alive, "between keep-alive events; 0: none"},
         {"command_time", &c::command_time, "of an admin command"}},
        {port::target("registers", "BAR0").of_size(ena_card::bar0_size),
         port::target("entries", "BAR2").of_size(ena_card::entries_size),
         port::initiator("dma", "bus addresses of its server"),
         port::plug("net", "to an ethernet_switch").optional(),
         port::irq_out("irq", "for the MSI-X vector of the same number")
             .times(&c::vectors)
             .optional(),
         port::irq_in("reset", "high: loses all state")},
        [](const c& cfg) -> std::optional<std::string> {
            if (cfg.mac >> 48 != 0 || (cfg.mac >> 40 & 1) != 0)
                return "a card's MAC address has 48 bits and is not a group's";
            if (cfg.rate < 125'000) return "a card sends at least 1 Mb/s";
            if (cfg.queues == 0 || cfg.queues > 128) return "a card has 1 to 128 queues";
            if (cfg.vectors < 2 || cfg.vectors > 256) return "a card has 2 to 256 vectors";
            if (cfg.low_latency_queues > ena_queues::limits::max_card_rings)
                return "a card has at most 8 low latency queues";
            return std::nullopt;
        });
}

}  // namespace trn::kind_tables

// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>

#include "models/cards/ena/card/ena_card.h"
#include "models/cards/nitro_management/nitro_statistics.h"
#include "models/kind_tables.h"
#include "platform/framework/netlist/kinds/kind_table.h"

namespace trn::kind_tables {

kind ena_card_kind() {
    using c = ena_card::config;
    auto made = kind_of<ena_card>(
        "ena_card", "An ENA network card: the Linux driver for ENA drives it.",
        {{"serial", &c::serial, unit::address, any_number, "of the card"},
         {"mac", &c::mac, unit::address, bits(48),
          "MAC address, the first byte highest; 0: 02, and 40 bits of the serial number"},
         {"rate", &c::rate, unit::bytes_per_second, within(125'000, 500 * TB_per_s),
          "of each direction"},
         {"queues", &c::queues, within(1, 128), "of each direction"},
         {"vectors", &c::vectors, within(2, 256),
          "MSI-X: one for commands, one for each pair of queues"},
         {"low_latency_queues", &c::low_latency_queues,
          within(0, ena_queues::limits::max_card_rings), "of those to send; 0: none"},
         {"shared_entries", &c::shared_entries, "other processes can map low latency queues"},
         {"processing", &c::processing, any_time, "of a packet, each way"},
         {"keep_alive", &c::keep_alive, period_or_none, "between keep-alive events; 0: none"},
         {"command_time", &c::command_time, any_time, "of an admin command"}},
        {port::target("registers", "BAR0").of_size(ena_card::bar0_size),
         port::target("entries", "BAR2").of_size(ena_card::entries_size),
         port::initiator("dma", "bus addresses of its server"),
         port::plug("net", "to an ethernet_switch").optional(),
         port::irq_out("irq", "for the MSI-X vector of the same number")
             .times(&c::vectors)
             .optional(),
         port::irq_in("reset", "high: loses all state")},
        [](const c& cfg) -> std::optional<std::string> {
            if ((cfg.mac >> 40 & 1) == 0) return std::nullopt;
            return "a card's MAC address (mac) is not a group's";
        });
    made.statistics =
        with_nitro_statistics({{"bytes_sent", "bytes", ""},
                               {"bytes_received", "bytes", ""},
                               {"packets_sent", "", ""},
                               {"packets_received", "", ""},
                               {"dropped_sends", "", "packets that the card could not send"},
                               {"dropped_packets", "", "received without a free descriptor"},
                               {"completions", "", "written to host memory"}});
    made.events = {{"command", "opcode, id", "an admin command"},
                   {"send", "queue, bytes", "a packet leaves"},
                   {"receive", "queue, bytes", "a packet is in host memory"}};
    return made;
}

}  // namespace trn::kind_tables

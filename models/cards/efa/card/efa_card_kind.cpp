// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <optional>
#include <string>

#include "models/cards/efa/card/efa_card.h"
#include "models/cards/nitro_management/nitro_statistics.h"
#include "models/kind_tables.h"
#include "platform/framework/config/document.h"
#include "platform/framework/netlist/kinds/kind_table.h"

template <>
struct trn::config::choices<trn::efa_card::generation> {
    static constexpr std::array list{
        trn::config::choice<trn::efa_card::generation>{"v2", trn::efa_card::generation::v2},
        trn::config::choice<trn::efa_card::generation>{"v3", trn::efa_card::generation::v3},
        trn::config::choice<trn::efa_card::generation>{"v4", trn::efa_card::generation::v4}};
};

namespace trn::kind_tables {

kind efa_card_kind() {
    using c = efa_card::config;
    auto made = kind_of<efa_card>(
        "efa_card", "An EFA card by its public contract: the Linux driver for EFA drives it.",
        {{"generation", &c::generation, "v2: 100 Gb/s, v3: 200 Gb/s, v4: 400 Gb/s"},
         {"rate", &c::rate, unit::bytes_per_second, within(125 * MB_per_s, 8 * TB_per_s).or_zero(),
          "of each direction; 0: the generation's"},
         {"guid", &c::guid, unit::address, any_number, "node GUID"},
         {"rdma_read", &c::rdma_read, "has RDMA read"},
         {"rdma_write", &c::rdma_write, "has RDMA write"},
         {"vectors", &c::vectors, within(1, 256),
          "MSI-X: one for commands, others for event queues"},
         {"event_queues", &c::event_queues, within(0, 255), "0: completion queues are polled only"},
         {"shared_rings", &c::shared_rings, "other processes can map the send rings"},
         {"packet", &c::packet, unit::bytes, within(256, 64 * KiB),
          "of data in a packet of an RDMA request"},
         {"mtu", &c::mtu, unit::bytes, within(256, 64 * KiB - 1), "of the longest datagram"},
         {"window", &c::window, within(1, 65536), "unacknowledged packets to one card"},
         {"retries", &c::retries, within(0, 1000),
          "without an answer from a card, before requests to it fail"},
         {"processing", &c::processing, any_time, "of each packet that the card sends"},
         {"retransmit", &c::retransmit, positive_time, "shortest wait for an acknowledgement"},
         {"keep_alive", &c::keep_alive, period_or_none, "between keep-alive events; 0: none"},
         {"command_time", &c::command_time, any_time, "of an admin command"}},
        {port::target("registers", "BAR0").of_size(efa_card::bar0_size),
         port::target("send_rings", "BAR2").of_size(efa_card::send_rings_size),
         port::initiator("dma", "bus addresses of its server"),
         port::plug("net", "to an ethernet_fabric").optional(),
         port::irq_out("irq", "for the MSI-X vector of the same number")
             .times(&c::vectors)
             .optional(),
         port::irq_in("reset", "high: loses all state")},
        [](const c& cfg) -> std::optional<std::string> {
            if (cfg.event_queues >= cfg.vectors)
                return "each event queue needs a vector of its own";
            return std::nullopt;
        });
    made.statistics = with_nitro_statistics(
        {{"bytes_sent", "bytes", ""},
         {"bytes_received", "bytes", ""},
         {"packets_sent", "", "with those sent again"},
         {"packets_received", "", ""},
         {"dropped_packets", "", "received without a queue pair or a free buffer"},
         {"retransmits", "", "packets sent again"},
         {"out_of_order", "", "packets that arrived before an earlier one"},
         {"requests", "", "work requests completed"},
         {"failed_requests", "", "of these, with an error"},
         {"completions", "", "written to host memory"}});
    made.events = {
        {"command", "opcode, id", "an admin command"},
        {"doorbell", "queue, count", "work requests are posted"},
        {"OPERATION ... completed/dropped", "queue, id, bytes, card",
         "a work request from its fetch on: `send`, `write`, `read`; completed has `status`"}};
    return made;
}

}  // namespace trn::kind_tables

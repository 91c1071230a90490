// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <optional>
#include <string>

#include "models/efa/efa.h"
#include "models/kind_tables.h"
#include "platform/framework/config/document.h"
#include "platform/framework/netlist/kind_table.h"

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
         {"window", &c::window, "unacknowledged packets"},
         {"retries", &c::retries, "of a packet, before its request fails"},
         {"processing", &c::processing, "in each card, each way"},
         {"retransmit", &c::retransmit, "shortest wait for an acknowledgement"}},
        {port::target("registers", "its registers").of_size(0x10000),
         port::initiator("dma", "bus addresses of its server"),
         port::plug("net", "to an ethernet_fabric").optional(),
         port::irq_out("irq", "for MSI-X vector 0").optional(),
         port::irq_in("reset", "high: loses all state")},
        [](const c& cfg) -> std::optional<std::string> {
            if (cfg.packet < 256 || cfg.packet > 65536) return "a packet has 256 to 65536 bytes";
            if (cfg.window == 0) return "the window has at least one packet";
            return std::nullopt;
        });
}

}  // namespace trn::kind_tables

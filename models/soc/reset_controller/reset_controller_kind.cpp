// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <optional>
#include <string>

#include "models/kind_tables.h"
#include "models/soc/reset_controller/reset_controller.h"
#include "platform/framework/config/document.h"
#include "platform/framework/netlist/kinds/kind_table.h"

template <>
struct trn::config::choices<trn::reset_controller::joined> {
    using joined = trn::reset_controller::joined;
    static constexpr std::array list{
        choice<joined>{"none", joined::none}, choice<joined>{"ring", joined::ring},
        choice<joined>{"torus", joined::torus}, choice<joined>{"switched", joined::switched}};
};

namespace trn::kind_tables {

kind reset_controller_kind() {
    using c = reset_controller::config;
    auto made = kind_of<reset_controller>(
        "reset_controller", "Straps, clocks and resets of a chip.",
        {{"routing_id", &c::routing_id, bits(32), "strap: board position"},
         {"serial", &c::serial, any_number, "strap: unique per chip"},
         {"revision_id", &c::revision_id, within(0, 255), "strap: PCI revision, 255 simulator"},
         {"generation", &c::generation, within(2, 4),
          "strap: 4 is Trainium3, 3 Trainium2, 2 Trainium1 and Inferentia2"},
         {"server_id", &c::server_id, within(0, reset_controller::max_id),
          "strap: id of the machine's first server"},
         {"rack_id", &c::rack_id, within(0, reset_controller::max_id),
          "strap: id of the machine's first rack"},
         {"topology", &c::topology, "strap: topology of the machine's chips"},
         {"shape_x", &c::shape_x, within(1, 32),
          "strap: chips of a ring, of a torus' row, of a server"},
         {"shape_y", &c::shape_y, within(1, 32), "strap: rows of a torus, servers of a rack"},
         {"shape_z", &c::shape_z, within(1, 32), "strap: servers of a torus, racks"},
         {"rack", &c::rack, within(0, 255), "strap: rack of the chip"},
         {"server_in_rack", &c::server_in_rack, within(0, 255),
          "strap: server of the chip in its rack"},
         {"chip", &c::chip, within(0, 255), "strap: number in the server"},
         {"recovery", &c::recovery, "strap: the boot ROM stops before the flash"},
         {"prefer_slot_b", &c::prefer_slot_b, "strap: the boot ROM tries slot B first"},
         {"pll_lock_time", &c::pll_lock_time, any_time, "of the clocks"},
         {"chip_reset_time", &c::chip_reset_time, any_time, "length of the pulse"},
         {"access_latency", &c::access_latency, any_time, "of each register access"}},
        {port::target("in", "reset_controller.regs.yaml").of_size(0x1000),
         port::irq_in("watchdog_bite", "resets the chip"),
         port::irq_in("thermal_trip", "resets the chip"),
         port::irq_in("power_off", "high: the chip has no power"),
         port::irq_in("requested", "resets the chip, as its register does").optional(),
         port::irq_in("host_reset", "resets the chip"),
         port::irq_out("power_lost", "high while the chip has no power").optional(),
         port::irq_out("chip_reset", "management processor and its devices"),
         port::irq_out("dma_reset", "8 groups, 4 host-transfer engines")
             .times(reset_controller::dma_lines)
             .optional(),
         port::irq_out("tpb_reset", "NeuronCores").times(reset_controller::tpb_lines).optional(),
         port::irq_out("top_sp_reset", "pairs of TOP_SPs, or single ones")
             .times(reset_controller::top_sp_lines)
             .optional()},
        [](const c& cfg) -> std::optional<std::string> {
            const bool joined = cfg.topology != reset_controller::joined::none;
            const bool switched = cfg.topology == reset_controller::joined::switched;
            const unsigned chips = switched ? cfg.shape_x : unsigned{cfg.shape_x} * cfg.shape_y;
            const unsigned servers = !joined ? 1 : switched ? cfg.shape_y : cfg.shape_z;
            const unsigned racks = switched ? cfg.shape_z : 1;
            if (cfg.server_id + servers * racks - 1 > reset_controller::max_id ||
                cfg.rack_id + racks - 1 > reset_controller::max_id)
                return "ids of servers and racks (server_id, rack_id) have 15 bits, 0 to 32767";
            if (!joined) return std::nullopt;
            if (chips > 16 || servers > 32 || racks > 2)
                return "the fabric address has room for 16 chips, 32 servers and 2 racks";
            if (cfg.chip < chips && cfg.server_in_rack < servers && cfg.rack < racks)
                return std::nullopt;
            return "the chip's place (rack, server_in_rack, chip) is outside the machine's shape";
        });
    made.events = {{"resets", "dma, tpb, top_sp", "the lines of these blocks, by bit"}};
    return made;
}

}  // namespace trn::kind_tables

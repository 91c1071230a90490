// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>

#include "models/kind_tables.h"
#include "models/soc/ram_window/ram_window.h"
#include "platform/framework/netlist/kinds/kind_table.h"

namespace trn::kind_tables {

kind ram_window_kind() {
    using c = ram_window::config;
    return kind_of<ram_window>(
        "ram_window", "A part of the HBM that a processor uses as its RAM.",
        {{"size", &c::size, unit::bytes, within(1, PiB), "of the window"},
         {"base", &c::base, unit::address, any_number, "of the HBM behind `out`"}},
        {port::target("in", "the bytes").of_size(&c::size).leading_to("out", &c::base),
         port::initiator("out", "where the HBM is")},
        [](const c& cfg) -> std::optional<std::string> {
            if (cfg.base + (cfg.size - 1) >= cfg.base) return std::nullopt;
            return "the window (base, size) reaches past 64 address bits";
        });
}

}  // namespace trn::kind_tables

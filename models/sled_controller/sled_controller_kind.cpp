// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <optional>
#include <string>

#include "models/kind_tables.h"
#include "models/sled_controller/sled_controller.h"
#include "platform/framework/config/document.h"
#include "platform/framework/netlist/kind_table.h"

template <>
struct trn::config::choices<trn::sled_cooling> {
    static constexpr std::array list{
        trn::config::choice<trn::sled_cooling>{"air", trn::sled_cooling::air},
        trn::config::choice<trn::sled_cooling>{"liquid", trn::sled_cooling::liquid}};
};

namespace trn::kind_tables {

kind sled_controller_kind() {
    using c = sled_controller::config;
    return kind_of<sled_controller>(
        "sled_controller", "The baseboard controller of a sled: power, cooling, throttling.",
        {{"chips", &c::chips, "of the sled"},
         {"chip_budget", &c::chip_budget, "mW; the sled has as much as all its chips"},
         {"release_permille", &c::release_permille, "of the budget: below it chips are released"},
         {"cooling", &c::cooling, "air or liquid"},
         {"inlet", &c::inlet, "inlet temperature, degrees Celsius"},
         {"outlet_limit", &c::outlet_limit, "degrees Celsius from which all chips are throttled"},
         {"air_rise", &c::air_rise, "kelvin to the outlet: the whole budget, full fan speed"},
         {"liquid_rise", &c::liquid_rise, "likewise at full flow"}},
        {port::uses<power_interface>("power", "the chips in order").unlimited().optional(),
         port::irq_out("throttle", "by chip: slow down").times(&c::chips).optional(),
         port::irq_out("power_off", "by chip: no power").times(&c::chips).optional()},
        [](const c& cfg) -> std::optional<std::string> {
            if (cfg.chips == 0) return "a sled has chips";
            if (cfg.chip_budget == 0) return "a sled has power";
            return std::nullopt;
        });
}

}  // namespace trn::kind_tables

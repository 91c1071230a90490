// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "models/kind_tables.h"
#include "models/sled/sled_controller/sled_controller.h"
#include "platform/framework/config/document.h"
#include "platform/framework/netlist/kinds/kind_table.h"

template <>
struct trn::config::choices<trn::sled_cooling> {
    static constexpr std::array list{
        trn::config::choice<trn::sled_cooling>{"air", trn::sled_cooling::air},
        trn::config::choice<trn::sled_cooling>{"liquid", trn::sled_cooling::liquid}};
};

namespace trn::kind_tables {

kind sled_controller_kind() {
    using c = sled_controller::config;
    auto made = kind_of<sled_controller>(
        "sled_controller", "The baseboard controller of a sled: power, cooling, throttling.",
        {{"chips", &c::chips, within(1, 64), "of the sled"},
         {"chip_budget", &c::chip_budget, within(1, 1'000'000'000),
          "mW; the sled has as much as all its chips"},
         {"release_permille", &c::release_permille, within(0, 1000),
          "of the budget: below it chips are released"},
         {"cooling", &c::cooling, "air or liquid"},
         {"inlet", &c::inlet, within(-100.0, 200.0), "inlet temperature, degrees Celsius"},
         {"outlet_limit", &c::outlet_limit, within(-100.0, 1000.0),
          "degrees Celsius from which all chips are throttled"},
         {"air_rise", &c::air_rise, within(0.0, 1000.0),
          "kelvin to the outlet: the whole budget, full fan speed"},
         {"liquid_rise", &c::liquid_rise, within(0.0, 1000.0), "likewise at full flow"}},
        {port::uses<power_interface>("power", "the chips in order").unlimited().optional(),
         port::irq_out("throttle", "by chip: slow down").times(&c::chips).optional(),
         port::irq_out("power_off", "by chip: no power").times(&c::chips).optional()});
    made.statistics = {{"milliwatts", "mW", "power of all chips now"},
                       {"speed_permille", "‰", "of fans or pumps"},
                       {"hottest_millidegrees", "0.001 °C", "hottest diode of all chips"},
                       {"outlet_millidegrees", "0.001 °C", "temperature of the outlet"},
                       {"throttled_chips", "", "throttled now"},
                       {"throttle_events", "", "times that a chip was throttled"},
                       {"power_losses", "", "times that the sled lost its power"}};
    return made;
}

}  // namespace trn::kind_tables

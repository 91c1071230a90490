// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>

#include "models/kind_tables.h"
#include "models/soc/sensors/sensors.h"
#include "platform/framework/netlist/kinds/kind_table.h"

namespace trn::kind_tables {

namespace {

constexpr auto milliwatts = within(0, 1'000'000'000);

}

kind sensors_kind() {
    using c = sensors::config;
    auto made = kind_of<sensors>(
        "sensors", "Power monitors and thermal diodes.",
        {{"sample_period", &c::sample_period, time_within(1 * us, 1000 * s), "of the conversions"},
         {"rated_power", &c::rated_power, milliwatts, "mW per die at full activity"},
         {"idle_power", &c::idle_power, milliwatts, "mW per die"},
         {"rated_activity", &c::rated_activity, unit::bytes_per_second, any_rate,
          "of a die's memories"},
         {"rated_flops", &c::rated_flops, within(1, 1'000'000'000 * GHz),
          "BF16 operations per second of a die's cores"},
         {"rated_sram", &c::rated_sram, unit::bytes_per_second, any_rate,
          "of a die's SBUF and PSUM"},
         {"dies", &c::dies, within(1, sensors::max_dies), "of the chip"},
         {"ambient", &c::ambient, within(-100.0, 200.0), "degrees Celsius of the coolant"},
         {"die_resistance", &c::die_resistance, within(0.0, 100.0), "kelvin per watt"},
         {"hbm_resistance", &c::hbm_resistance, within(0.0, 100.0), "kelvin per watt of the die"},
         {"time_constant", &c::time_constant, time_within(1 * us, 1000 * s), "of all diodes"},
         {"trip", &c::trip, within(0.0, 1000.0), "degrees Celsius"},
         {"access_latency", &c::access_latency, any_time, "of each register access"}},
        {port::target("in", "sensors.regs.yaml").of_size(0x1000),
         port::irq_in("reset", "registers to their reset values"),
         port::uses<activity_interface>("activity", "HBM stacks in order, for the power model")
             .unlimited()
             .optional(),
         port::uses<compute_activity_interface>("compute", "NeuronCores in order, likewise")
             .unlimited()
             .optional(),
         port::irq_in("throttle", "high: the sled throttles the chip"),
         port::provides<power_interface>("power", "power and heat, for the sled's controller"),
         port::irq_out("irq", "alarm or throttling"),
         port::irq_out("throttled", "to the DMA engines").optional(),
         port::irq_out("trip", "a diode is at the trip temperature")},
        [](const c& cfg) -> std::optional<std::string> {
            if (cfg.idle_power <= cfg.rated_power) return std::nullopt;
            return "a die at rest (idle_power) takes no more than at full activity (rated_power)";
        });
    made.statistics = {{"dynamic_microjoules", "µJ", "energy of all work since power-on"}};
    return made;
}

}  // namespace trn::kind_tables

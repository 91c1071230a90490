// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>

#include "models/kind_tables.h"
#include "models/sensors/sensors.h"
#include "platform/framework/netlist/kind_table.h"

namespace trn::kind_tables {

kind sensors_kind() {
    using c = sensors::config;
    return kind_of<sensors>(
        "sensors", "Power monitors and thermal diodes.",
        {{"sample_period", &c::sample_period, "of the conversions"},
         {"rated_power", &c::rated_power, "mW per die at full activity"},
         {"idle_power", &c::idle_power, "mW per die"},
         {"rated_activity", &c::rated_activity, unit::bytes_per_second, "of a die's memories"},
         {"rated_flops", &c::rated_flops, "BF16 operations per second of a die's cores"},
         {"rated_sram", &c::rated_sram, unit::bytes_per_second, "of a die's SBUF and PSUM"},
         {"dies", &c::dies, "1 or 2"},
         {"ambient", &c::ambient, "degrees Celsius of the coolant"},
         {"die_resistance", &c::die_resistance, "kelvin per watt"},
         {"hbm_resistance", &c::hbm_resistance, "kelvin per watt of the die"},
         {"time_constant", &c::time_constant, "of all diodes"},
         {"trip", &c::trip, "degrees Celsius"},
         {"access_latency", &c::access_latency, "of each register access"}},
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
            if (cfg.dies >= 1 && cfg.dies <= sensors::max_dies) return std::nullopt;
            return "a chip has one die or two";
        });
}

}  // namespace trn::kind_tables

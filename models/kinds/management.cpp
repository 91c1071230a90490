// SPDX-License-Identifier: Apache-2.0
#include "models/boot_rom/boot_rom.h"
#include "models/flash/flash.h"
#include "models/kinds/tables.h"
#include "models/misuse_port/misuse_port.h"
#include "models/reset_controller/reset_controller.h"
#include "models/sensors/sensors.h"
#include "models/sled_controller/sled_controller.h"
#include "models/uart/uart.h"
#include "models/watchdog/watchdog.h"
#include "platform/netlist/kind_table.h"

template <>
struct trn::config::choices<trn::reset_controller::joined> {
    using joined = trn::reset_controller::joined;
    static constexpr std::array list{
        choice<joined>{"none", joined::none}, choice<joined>{"ring", joined::ring},
        choice<joined>{"torus", joined::torus}, choice<joined>{"switched", joined::switched}};
};

template <>
struct trn::config::choices<trn::sled_cooling> {
    static constexpr std::array list{
        trn::config::choice<trn::sled_cooling>{"air", trn::sled_cooling::air},
        trn::config::choice<trn::sled_cooling>{"liquid", trn::sled_cooling::liquid}};
};

namespace trn::kind_tables {

kind boot_rom_kind() {
    using c = boot_rom::config;
    return kind_of<boot_rom>("boot_rom", "Read-only memory with an image from a file.",
                             {{"size", &c::size, unit::bytes, "capacity"},
                              {"image", &c::image, "a path, or a file of the firmware folder"},
                              {"access_latency", &c::access_latency, "of each access"}},
                             {port::target("in", "the bytes").of_size(&c::size)});
}

kind flash_kind() {
    using c = flash::config;
    return kind_of<flash>(
        "flash", "Serial NOR flash with its controller.",
        {{"size", &c::size, unit::bytes, "capacity, a power of two"},
         {"image", &c::image, "what it starts with: a flash image, or a program for both slots"},
         {"read_latency", &c::read_latency, "of each read through the window"},
         {"access_latency", &c::access_latency, "of each register access"},
         {"program_time", &c::program_time, "of a page"},
         {"erase_time", &c::erase_time, "of a sector"}},
        {port::target("window", "the bytes, read only").of_size(&c::size),
         port::target("in", "flash.regs.yaml").of_size(0x1000),
         port::irq_in("reset", "cuts a command off"),
         port::irq_out("irq", "a command ended or was refused")},
        +[](const c& config) -> std::optional<std::string> {
            if (config.size >= flash::sector && (config.size & (config.size - 1)) == 0) return {};
            return "size must be a power of two of at least one sector (4 KiB)";
        });
}

kind uart_kind() {
    using c = uart::config;
    return kind_of<uart>(
        "uart", "ns16550a in 32-bit slots.",
        {{"clock_hz", &c::clock_hz, unit::hertz, "divided by 16 x divisor is the baud rate"},
         {"access_latency", &c::access_latency, "of each register access"},
         {"type_ahead", &c::type_ahead, unit::bytes, "typed characters that wait for the guest"}},
        {port::target("in", "uart.regs.yaml").of_size(0x1000),
         port::irq_in("reset", "drops everything"), port::irq_out("irq", "as IIR says")});
}

kind watchdog_kind() {
    using c = watchdog::config;
    return kind_of<watchdog>("watchdog", "Two-stage watchdog.",
                             {{"access_latency", &c::access_latency, "of each register access"}},
                             {port::target("in", "watchdog.regs.yaml").of_size(0x1000),
                              port::irq_in("reset", "stops it"),
                              port::irq_in("needed", "high ends an announced sleep").optional(),
                              port::irq_out("bark", "first stage: interrupt"),
                              port::irq_out("bite", "second stage: reset request")});
}

kind sensors_kind() {
    using c = sensors::config;
    return kind_of<sensors>(
        "sensors", "Power monitors and thermal diodes.",
        {{"sample_period", &c::sample_period, "of the conversions"},
         {"rated_power", &c::rated_power, "mW per die at full activity"},
         {"idle_power", &c::idle_power, "mW per die"},
         {"rated_activity", &c::rated_activity, unit::bytes_per_second, "of a die's memories"},
         {"dies", &c::dies, "1 or 2"},
         {"ambient", &c::ambient, "degrees Celsius of the coolant"},
         {"die_resistance", &c::die_resistance, "kelvin per watt"},
         {"hbm_resistance", &c::hbm_resistance, "kelvin per watt of the die"},
         {"time_constant", &c::time_constant, "of all diodes"},
         {"trip", &c::trip, "degrees Celsius"},
         {"access_latency", &c::access_latency, "of each register access"}},
        {port::target("in", "sensors.regs.yaml").of_size(0x1000),
         port::irq_in("reset", "registers to their reset values"),
         port::uses<activity_interface>("activity", "HBM stacks in order: what makes power")
             .unlimited()
             .optional(),
         port::irq_in("throttle", "high: the sled wants the chip to slow down"),
         port::provides<power_interface>("power", "power and heat, for the sled's controller"),
         port::irq_out("irq", "alarm or throttling"),
         port::irq_out("throttled", "to what can slow down").optional(),
         port::irq_out("trip", "a diode is at the trip temperature")},
        [](const c& cfg) -> std::optional<std::string> {
            if (cfg.dies >= 1 && cfg.dies <= sensors::most_dies) return std::nullopt;
            return "a chip has one die or two";
        });
}

kind misuse_port_kind() {
    return kind_of<misuse_port>("misuse_port",
                                "Through which firmware reports mistakes of the host.", {},
                                {port::target("in", "misuse_port.regs.yaml").of_size(0x1000)});
}

kind reset_controller_kind() {
    using c = reset_controller::config;
    return kind_of<reset_controller>(
        "reset_controller", "Straps, clocks and resets of a chip.",
        {{"routing_id", &c::routing_id, "strap: board position"},
         {"serial", &c::serial, "strap: unique per chip"},
         {"revision_id", &c::revision_id, "strap: PCI revision, 255 simulator"},
         {"generation", &c::generation,
          "strap: 4 is Trainium3, 3 Trainium2, 2 Trainium1 and Inferentia2"},
         {"server_id", &c::server_id, "strap: id of the machine's first server"},
         {"rack_id", &c::rack_id, "strap: id of the machine's first rack"},
         {"topology", &c::topology, "strap: how the chips of the machine are joined"},
         {"shape_x", &c::shape_x, "strap: chips of a ring, of a torus' row, of a server"},
         {"shape_y", &c::shape_y, "strap: rows of a torus, servers of a rack"},
         {"shape_z", &c::shape_z, "strap: servers of a torus, racks"},
         {"rack", &c::rack, "strap: where the chip sits"},
         {"server_in_rack", &c::server_in_rack, "strap: where the chip sits"},
         {"chip", &c::chip, "strap: which one of the server"},
         {"recovery", &c::recovery, "strap: the boot ROM stops before the flash"},
         {"prefer_slot_b", &c::prefer_slot_b, "strap: the boot ROM tries slot B first"},
         {"pll_lock_time", &c::pll_lock_time, "of the clocks"},
         {"chip_reset_time", &c::chip_reset_time, "length of the pulse"},
         {"access_latency", &c::access_latency, "of each register access"}},
        {port::target("in", "reset_controller.regs.yaml").of_size(0x1000),
         port::irq_in("watchdog_bite", "resets the chip"),
         port::irq_in("thermal_trip", "resets the chip"),
         port::irq_in("power_off", "high: the chip has no power"),
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
            if (chips < 1 || chips > 16 || servers < 1 || servers > 32 || racks < 1 || racks > 2)
                return "the fabric address has room for 16 chips, 32 servers and 2 racks";
            if (cfg.chip < chips && cfg.server_in_rack < servers && cfg.rack < racks)
                return std::nullopt;
            return "the chip's place (rack, server_in_rack, chip) is outside the machine's shape";
        });
}

kind sled_controller_kind() {
    using c = sled_controller::config;
    return kind_of<sled_controller>(
        "sled_controller", "The baseboard controller of a sled: power, cooling, throttling.",
        {{"chips", &c::chips, "of the sled"},
         {"chip_budget", &c::chip_budget, "mW; the sled has as much as all its chips"},
         {"release_permille", &c::release_permille, "of the budget: below it chips are released"},
         {"cooling", &c::cooling, "air or liquid"},
         {"inlet", &c::inlet, "degrees Celsius of what comes in"},
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

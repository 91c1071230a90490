// SPDX-License-Identifier: Apache-2.0
#include "models/kind_tables.h"
#include "models/soc/boot_rom/boot_rom.h"
#include "platform/framework/netlist/kinds/kind_table.h"

namespace trn::kind_tables {

kind boot_rom_kind() {
    using c = boot_rom::config;
    return kind_of<boot_rom>(
        "boot_rom", "Read-only memory with an image from a file.",
        {{"size", &c::size, unit::bytes, within(4 * KiB, 128 * MiB), "capacity"},
         {"image", &c::image, "a path, or a file of the firmware folder"},
         {"access_latency", &c::access_latency, any_time, "of each access"}},
        {port::target("in", "the bytes").of_size(&c::size)});
}

}  // namespace trn::kind_tables

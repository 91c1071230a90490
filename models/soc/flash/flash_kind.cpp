// SPDX-License-Identifier: Apache-2.0

#include "models/kind_tables.h"
#include "models/soc/flash/flash.h"
#include "platform/framework/netlist/kinds/kind_table.h"

namespace trn::kind_tables {

kind flash_kind() {
    using c = flash::config;
    return kind_of<flash>(
        "flash", "Serial NOR flash with its controller.",
        {{"size", &c::size, unit::bytes, within(flash::sector, 128 * MiB).powers_of_two(),
          "capacity"},
         {"image", &c::image, "initial content: a flash image, or a program for both slots"},
         {"read_latency", &c::read_latency, any_time, "of each read through the window"},
         {"access_latency", &c::access_latency, any_time, "of each register access"},
         {"program_time", &c::program_time, any_time, "of a page"},
         {"erase_time", &c::erase_time, any_time, "of a sector"}},
        {port::target("window", "the bytes, read only").of_size(&c::size),
         port::target("in", "flash.regs.yaml").of_size(0x1000),
         port::irq_in("reset", "aborts a command"),
         port::irq_out("irq", "a command ended or was refused")});
}

}  // namespace trn::kind_tables

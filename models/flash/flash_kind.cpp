// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>

#include "models/flash/flash.h"
#include "models/kind_tables.h"
#include "platform/framework/netlist/kind_table.h"

namespace trn::kind_tables {

kind flash_kind() {
    using c = flash::config;
    return kind_of<flash>(
        "flash", "Serial NOR flash with its controller.",
        {{"size", &c::size, unit::bytes, "capacity, a power of two"},
         {"image", &c::image, "initial content: a flash image, or a program for both slots"},
         {"read_latency", &c::read_latency, "of each read through the window"},
         {"access_latency", &c::access_latency, "of each register access"},
         {"program_time", &c::program_time, "of a page"},
         {"erase_time", &c::erase_time, "of a sector"}},
        {port::target("window", "the bytes, read only").of_size(&c::size),
         port::target("in", "flash.regs.yaml").of_size(0x1000),
         port::irq_in("reset", "aborts a command"),
         port::irq_out("irq", "a command ended or was refused")},
        +[](const c& config) -> std::optional<std::string> {
            if (config.size >= flash::sector && (config.size & (config.size - 1)) == 0) return {};
            return "size must be a power of two of at least one sector (4 KiB)";
        });
}

}  // namespace trn::kind_tables

// SPDX-License-Identifier: Apache-2.0
#include "models/kind_tables.h"
#include "models/soc/misc_ram/misc_ram.h"
#include "platform/framework/netlist/kinds/kind_table.h"

namespace trn::kind_tables {

kind misc_ram_kind() {
    using c = misc_ram::config;
    auto made = kind_of<misc_ram>(
        "misc_ram", "The words and the doorbell that driver and firmware share.",
        {{"access_latency", &c::access_latency, any_time, "of each access"}},
        {port::target("in", "address map of host and DMA engines").of_size(0x1000),
         port::target("firmware", "address map of the management processor").of_size(0x1000),
         port::irq_out("doorbell", "the trigger word is not zero"),
         port::irq_out("watched", "the host has read the current power sample or heartbeat")
             .optional(),
         port::irq_out("booting", "firmware has not published the routing id").optional(),
         port::irq_in("power_lost", "high: loses all words").optional(),
         port::irq_in("function_reset", "the host has reset the chip's function"),
         port::irq_out("stale", "a word of firmware's was overwritten, or the function was reset")
             .optional()});
    made.events = {{"trigger", "value", "a mailbox request (1), or its end (0)"}};
    return made;
}

}  // namespace trn::kind_tables

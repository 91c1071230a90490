// SPDX-License-Identifier: Apache-2.0
#include <any>
#include <memory>

#include "models/kind_tables.h"
#include "models/processor/riscv/execute/assemble.h"
#include "models/processor/top_sp/top_sp.h"
#include "platform/framework/netlist/kinds/kind_table.h"

namespace trn::kind_tables {

kind top_sp_kind() {
    using c = top_sp::config;
    auto made = kind_of<top_sp>(
        "top_sp",
        "A CC-Core, which runs collectives: hart, memory, events, semaphores and registers.",
        {{"number", &c::number, within(0, 255), "of the address map; mhartid"},
         {"clock", &c::clock, hart_clock, "time per instruction"},
         {"access_latency", &c::access_latency, any_time, "of each access to the aperture"},
         {"register_latency", &c::register_latency, any_time, "of each register access"},
         {"notifications_offset", &c::notifications_offset, unit::address,
          within(0, top_sp::registers_size), "in its registers"}},
        {port::target("aperture", "events, semaphores, memory").of_size(top_sp::aperture_size),
         port::target("registers", "its notification queues").of_size(top_sp::registers_size),
         port::initiator("memory", "the hart, and entries of its notification queues"),
         port::irq_in("reset", "held in reset while high"),
         port::irq_in("power_lost", "high: its memory loses its bytes").optional()});
    made.make = [shared = hart_common()](const char* name, const std::any& config) {
        return std::make_unique<top_sp>(name, *std::any_cast<c>(&config), shared);
    };
    made.events = {{"doorbell", "value", "the host or a core rings the CC-Core"},
                   {"serves ... sleeps", "", "of its hart: from an interrupt until it sleeps"},
                   {"semaphore", "index, value, by",
                    "a semaphore has this value; by: engine, dma, host or firmware"},
                   {"event", "index, value, by", "an event has this value"},
                   {"notification", "slot, source, payload", "an entry of a notification ring"}};
    return made;
}

}  // namespace trn::kind_tables

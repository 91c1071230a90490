// SPDX-License-Identifier: Apache-2.0
#include "models/kind_tables.h"
#include "models/scale_up/die_to_die/die_to_die.h"
#include "platform/framework/netlist/kinds/kind_table.h"

namespace trn::kind_tables {

kind die_to_die_kind() {
    using c = die_to_die::config;
    auto made = kind_of<die_to_die>(
        "die_to_die", "The link between the two dies; addresses pass unchanged.",
        {{"bytes_per_second", &c::bytes_per_second, unit::bytes_per_second, any_rate,
          "of each direction"},
         {"latency", &c::latency, any_time, "of each crossing"},
         {"training_time", &c::training_time, any_time, "from the command to a trained link"},
         {"retry_time", &c::retry_time, any_time, "of a flit that is sent again"},
         {"needs_training", &c::needs_training,
          "returns errors until firmware has trained the link"}},
        {port::target("from_die_0", "accesses of die 0 to die 1").leading_to("to_die_1"),
         port::target("from_die_1", "accesses of die 1 to die 0").leading_to("to_die_0"),
         port::initiator("to_die_0", "into die 0"), port::initiator("to_die_1", "into die 1"),
         port::target("control", "its registers").of_size(0x1000),
         port::irq_out("irq", "the link has gone down").optional(),
         port::irq_in("power_lost", "high: loses all state").optional()});
    made.statistics = {{"bytes_to_die_0", "bytes", "that crossed the link to die 0"},
                       {"bytes_to_die_1", "bytes", "that crossed the link to die 1"},
                       {"retries", "", "flits sent again"}};
    made.events = {{"read", "bytes", "bytes of an operation, while they occupy it"},
                   {"write", "bytes", "likewise"}};
    return made;
}

}  // namespace trn::kind_tables

// SPDX-License-Identifier: Apache-2.0
#include "models/die_to_die/die_to_die.h"
#include "models/hbm/hbm.h"
#include "models/kinds/tables.h"
#include "platform/netlist/kind_table.h"
#include "platform/tlm/memory.h"
#include "platform/tlm/router.h"

namespace trn::kind_tables {

kind router_kind() {
    using c = router::config;
    return kind_of<router>(
        "router", "Decodes addresses to targets: an interconnect, the windows of a BAR, a bus.",
        {{"hop_latency", &c::hop_latency, "added to each transaction"}},
        {port::target("target", "any number of initiators").unlimited(),
         port::initiator("initiator", "one range per binding").unlimited().with_ranges()});
}

kind memory_kind() {
    using c = memory::config;
    return kind_of<memory>(
        "memory", "RAM or ROM with one access latency, wholly open to DMI.",
        {{"size", &c::size, unit::bytes, required, "capacity; costs host memory when touched"},
         {"access_latency", &c::access_latency, "added to each transaction"},
         {"read_only", &c::read_only, "guests cannot write"},
         {"shared", &c::shared, "can be mapped by another process"}},
        {port::target("in", "the bytes").of_size(&c::size)});
}

kind hbm_kind() {
    using c = hbm::config;
    return kind_of<hbm>(
        "hbm", "One HBM stack: sparse bytes, bandwidth, ECC faults, training registers.",
        {{"size", &c::size, unit::bytes, "capacity; costs host memory when touched"},
         {"bytes_per_second", &c::bytes_per_second, unit::bytes_per_second, "peak of the stack"},
         {"sustained_permille", &c::sustained_permille, "of the peak, after refresh"},
         {"pseudo_channels", &c::pseudo_channels, "that bytes are interleaved over"},
         {"interleave", &c::interleave, unit::bytes, "in one pseudo-channel before the next"},
         {"read_latency", &c::read_latency, "of a read"},
         {"write_latency", &c::write_latency, "of a write"},
         {"training_time", &c::training_time, "from the command to a trained PHY"},
         {"repair_time", &c::repair_time, "from the command to a repaired stack"},
         {"needs_training", &c::needs_training, "answers errors until firmware trained the PHY"},
         {"shared", &c::shared, "can be mapped by another process, as a guest's BAR4"}},
        {port::target("in", "the memory").of_size(&c::size),
         port::target("control", "its registers").of_size(0x1000),
         port::irq_in("power_lost", "high: forgets everything"),
         port::irq_out("error", "an ECC counter is not zero"),
         port::provides<activity_interface>("activity", "bytes moved, for the power model")});
}

kind die_to_die_kind() {
    using c = die_to_die::config;
    return kind_of<die_to_die>(
        "die_to_die", "The link between the two dies; addresses pass unchanged.",
        {{"bytes_per_second", &c::bytes_per_second, unit::bytes_per_second, "of each direction"},
         {"latency", &c::latency, "of each crossing"},
         {"training_time", &c::training_time, "from the command to a trained link"},
         {"retry_time", &c::retry_time, "of a flit that is sent again"},
         {"needs_training", &c::needs_training, "answers errors until firmware trained the link"}},
        {port::target("from_die_0", "what die 0 addresses on die 1").leading_to("to_die_1"),
         port::target("from_die_1", "what die 1 addresses on die 0").leading_to("to_die_0"),
         port::initiator("to_die_0", "into die 0"), port::initiator("to_die_1", "into die 1"),
         port::target("control", "its registers").of_size(0x1000)});
}

}  // namespace trn::kind_tables

// SPDX-License-Identifier: Apache-2.0
#include "models/kind_tables.h"
#include "models/memory/hbm/hbm.h"
#include "platform/framework/netlist/kinds/kind_table.h"

namespace trn::kind_tables {

kind hbm_kind() {
    using c = hbm::config;
    auto made = kind_of<hbm>(
        "hbm", "One HBM stack: sparse bytes, bandwidth, ECC faults, training registers.",
        {{"size", &c::size, unit::bytes, within(MiB, TiB),
          "capacity; costs host memory when touched"},
         {"bytes_per_second", &c::bytes_per_second, unit::bytes_per_second, any_rate,
          "peak of the stack"},
         {"sustained_permille", &c::sustained_permille, within(1, 1000),
          "of the peak, after refresh"},
         {"pseudo_channels", &c::pseudo_channels, within(1, 1000),
          "number of interleaved pseudo-channels"},
         {"interleave", &c::interleave, unit::bytes, within(64, MiB).powers_of_two(),
          "in one pseudo-channel before the next"},
         {"read_latency", &c::read_latency, any_time, "of a read"},
         {"write_latency", &c::write_latency, any_time, "of a write"},
         {"training_time", &c::training_time, any_time, "from the command to a trained PHY"},
         {"repair_time", &c::repair_time, any_time, "from the command to a repaired stack"},
         {"needs_training", &c::needs_training,
          "returns errors until firmware has trained the PHY"},
         {"shared", &c::shared, "can be mapped by another process, as a guest's BAR4"}},
        {port::target("in", "the memory").of_size(&c::size),
         port::target("control", "its registers").of_size(0x1000),
         port::irq_in("power_lost", "high: loses all state"),
         port::irq_out("error", "an ECC counter is not zero"),
         port::provides<activity_interface>("activity", "bytes moved, for the power model")});
    made.statistics = {{"bytes_moved", "bytes", "by all accesses"},
                       {"bytes_resident", "bytes", "of host memory that the content takes"},
                       {"ecc_corrected", "", "errors"},
                       {"ecc_uncorrected", "", "errors"},
                       {"ecc_repairable", "", "errors that a repair mends"}};
    made.events = {{"read", "bytes", "bytes of an operation, while they occupy it"},
                   {"write", "bytes", "likewise"}};
    return made;
}

}  // namespace trn::kind_tables

// SPDX-License-Identifier: Apache-2.0
#include "models/kind_tables.h"
#include "platform/framework/netlist/kinds/kind_table.h"
#include "platform/framework/tlm/irq.h"
#include "platform/framework/tlm/memory.h"

namespace trn::kind_tables {

namespace {

/// A memory of a board: a RAM loses its bytes without power.
class board_memory : public memory {
public:
    using memory::memory;

    irq_in power_lost{"power_lost", 1, [this](unsigned, bool level) {
                          if (level && !settings().read_only) bytes().clear();
                      }};
};

}  // namespace

kind memory_kind() {
    using c = memory::config;
    return kind_of<board_memory>(
        "memory", "RAM or ROM with one access latency and DMI.",
        {{"size", &c::size, unit::bytes, within(1, PiB), required,
          "capacity; costs host memory when touched"},
         {"access_latency", &c::access_latency, any_time, "added to each transaction"},
         {"read_only", &c::read_only, "guests cannot write"},
         {"shared", &c::shared, "can be mapped by another process"}},
        {port::target("in", "the bytes").of_size(&c::size),
         port::irq_in("power_lost", "high: a RAM loses its bytes").optional()});
}

}  // namespace trn::kind_tables

// SPDX-License-Identifier: Apache-2.0
#include "models/kind_tables.h"
#include "platform/framework/netlist/kind_table.h"
#include "platform/framework/tlm/memory.h"

namespace trn::kind_tables {

kind memory_kind() {
    using c = memory::config;
    return kind_of<memory>(
        "memory", "RAM or ROM with one access latency and DMI.",
        {{"size", &c::size, unit::bytes, required, "capacity; costs host memory when touched"},
         {"access_latency", &c::access_latency, "added to each transaction"},
         {"read_only", &c::read_only, "guests cannot write"},
         {"shared", &c::shared, "can be mapped by another process"}},
        {port::target("in", "the bytes").of_size(&c::size)});
}

}  // namespace trn::kind_tables

// SPDX-License-Identifier: Apache-2.0
// Everything a board may name: one line per kind, with its table above it. A parameter's default is
// the one in the model's `config`.
#include "models/kinds.h"

#include "platform/netlist/kind_table.h"
#include "platform/tlm/memory.h"
#include "platform/tlm/router.h"

namespace trn {

namespace {

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

}  // namespace

const kind_list& kinds() {
    static const kind_list list{
        router_kind(),
        memory_kind(),
    };
    return list;
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "models/kind_tables.h"
#include "models/pcie/root_complex/root_complex.h"
#include "platform/framework/config/document.h"
#include "platform/framework/netlist/kinds/kind_table.h"

template <>
struct trn::config::choices<trn::host_processor> {
    static constexpr std::array list{
        trn::config::choice<trn::host_processor>{"graviton", trn::host_processor::graviton},
        trn::config::choice<trn::host_processor>{"xeon", trn::host_processor::xeon}};
};

namespace trn::kind_tables {

kind root_complex_kind() {
    using c = root_complex::config;
    auto made = kind_of<root_complex>(
        "root_complex", "The host of one server: memory, root ports and enumeration.",
        {{"processor", &c::processor, "graviton or xeon"},
         {"cores", &c::cores, within(1, 4096), "maximum number of processors of a guest"},
         {"memory", &c::memory, unit::bytes, within(MiB, 64 * TiB),
          "of the server; costs host memory when touched"},
         {"ports", &c::ports, within(1, root_complex::max_ports),
          "root ports: links to chips, cards and switches"},
         {"link_generation", &c::link_generation, within(1, 6), "of each link: 2.5 to 64 GT/s"},
         {"link_width", &c::link_width, within(1, 16).powers_of_two(), "lanes of each link"},
         {"window_base", &c::window_base, unit::address, within(4 * GiB, PiB).multiples_of(MiB),
          "bus address of the first BAR"},
         {"boot_firmware", &c::boot_firmware, "enumerates; otherwise software of the processors"},
         {"peer_to_peer", &c::peer_to_peer, "requests from one function to another pass"},
         {"memory_latency", &c::memory_latency, any_time, "of a read of host memory"},
         {"peer_latency", &c::peer_latency, any_time, "of a request from one port to another"},
         {"completion_timeout", &c::completion_timeout, any_time,
          "of a request without completion"}},
        {port::plug("port", "a link to a chip, a card or a switch")
             .times(&c::ports)
             .with_lanes(&c::link_width)
             .facing(port_side::downstream)
             .optional(),
         port::irq_in("perst", "fundamental reset of all ports, for a server that starts again")
             .optional(),
         port::target("bus", "physical addresses of processors of another model").optional(),
         port::initiator("memory", "requests of functions to the memory of these processors")
             .optional()});
    made.statistics = {
        {"functions", "", "found by the enumeration"},
        {"host_ranges", "", "of host memory that drivers have mapped"},
        {"unmapped_accesses", "", "DMA to host memory that no driver has mapped"},
        {"questions", "", "reads of host memory by messages, of hosts that share no memory"},
        {"peer_requests", "", "from one function to another"},
        {"refused_requests", "", "without a target, or blocked by access control"},
        {"completion_timeouts", "", "requests without a completion"},
        {"hot_plug_events", "", ""},
        {"error_messages", "", "received by root ports"}};
    return made;
}

}  // namespace trn::kind_tables

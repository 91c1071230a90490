// SPDX-License-Identifier: Apache-2.0
#include "models/kinds/tables.h"
#include "models/neuron_core/neuron_core.h"
#include "models/top_sp/top_sp.h"
#include "platform/netlist/kind_table.h"

namespace trn::kind_tables {

kind neuron_core_kind() {
    using c = neuron_core::config;
    return kind_of<neuron_core>(
        "neuron_core", "A NeuronCore: SBUF, PSUM, events, semaphores, registers.",
        {{"sbuf_size", &c::sbuf_size, unit::bytes, "state buffer"},
         {"psum_size", &c::psum_size, unit::bytes, "partial sums"},
         {"bytes_per_second", &c::bytes_per_second, unit::bytes_per_second, "of both memories"},
         {"access_latency", &c::access_latency, "of each access to memory or semaphores"},
         {"register_latency", &c::register_latency, "of each register access"},
         {"clock_hz", &c::clock_hz, unit::hertz, "of the performance counters"}},
        {port::target("aperture", "memories and semaphores").of_size(neuron_core::aperture_size),
         port::target("top", "TPB_TOP registers").of_size(neuron_core::top_size),
         port::initiator("memory", "notifications"),
         port::irq_in("reset", "clears semaphores, events, notification queues")},
        [](const c& cfg) -> std::optional<std::string> {
            if (cfg.sbuf_size > 0 && cfg.sbuf_size <= neuron_core::psum_offset &&
                cfg.psum_size > 0 &&
                cfg.psum_size <= neuron_core::semaphores_offset - neuron_core::psum_offset)
                return std::nullopt;
            return "the aperture has room for 32 MiB of SBUF and 7 MiB of PSUM";
        });
}

kind top_sp_kind() {
    using c = top_sp::config;
    return kind_of<top_sp>(
        "top_sp", "A CC-Core's aperture: events, semaphores, memory, registers.",
        {{"access_latency", &c::access_latency, "of each access to memory or semaphores"},
         {"register_latency", &c::register_latency, "of each register access"}},
        {port::target("aperture", "semaphores and memory").of_size(top_sp::aperture_size),
         port::target("registers", "notification queues").of_size(top_sp::registers_size),
         port::initiator("memory", "notifications"),
         port::irq_in("reset", "clears semaphores, events, notification queues")});
}

}  // namespace trn::kind_tables

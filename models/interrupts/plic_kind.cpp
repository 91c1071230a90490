// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>

#include "models/interrupts/plic.h"
#include "models/kind_tables.h"
#include "platform/framework/netlist/kind_table.h"

namespace trn::kind_tables {

kind plic_kind() {
    using c = plic::config;
    return kind_of<plic>(
        "plic", "Platform-level interrupt controller (RISC-V PLIC 1.0.0).",
        {{"sources", &c::sources, "numbered from 1, at most 1023"},
         {"contexts", &c::contexts, "a hart in a privilege mode each, at most 64"},
         {"access_latency", &c::access_latency, "of each register access"}},
        {port::target("in", "its registers").of_size(0x400'0000),
         port::irq_in("source", "line n is source n; line 0 is unused").of_lines([](const c& cfg) {
             return cfg.sources + 1;
         }),
         port::irq_in("reset", "drops enables and services"),
         port::irq_out("out", "by context").times(&c::contexts)},
        [](const c& cfg) -> std::optional<std::string> {
            if (cfg.sources <= 1023 && cfg.contexts >= 1 && cfg.contexts <= 64) return std::nullopt;
            return "at most 1023 sources, and 1 to 64 contexts";
        });
}

}  // namespace trn::kind_tables

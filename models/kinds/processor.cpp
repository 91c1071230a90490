// SPDX-License-Identifier: Apache-2.0
#include "models/interrupts/aclint.h"
#include "models/interrupts/plic.h"
#include "models/kinds/tables.h"
#include "models/riscv/riscv_hart.h"
#include "platform/netlist/kind_table.h"

namespace trn {

template <>
struct kind_detail::field_type<riscv::isa> {
    static std::optional<config::refusal> read(std::string_view text, unit, riscv::isa& field) {
        try {
            field = riscv::isa::parse(text);
            return std::nullopt;
        } catch (const std::invalid_argument& why) {
            return config::refusal{mistake::not_a_choice, why.what(), ""};
        }
    }
    static std::string show(const riscv::isa& field, unit) { return field.name(); }
    static std::string name(unit) { return "ISA string"; }
};

namespace kind_tables {

kind riscv_hart_kind() {
    using c = riscv_hart::config;
    auto made = kind_of<riscv_hart>(
        "riscv_hart", "A RISC-V hart: RV64IMAC with M, S and U modes.",
        {{"hart_id", &c::hart_id, "mhartid"},
         {"clock", &c::clock, "time per instruction"},
         {"reset_vector", &c::reset_vector, unit::address, "first pc"},
         {"isa", &c::isa, "such as rv64imac_zba_zbb_zbs"},
         {"quantum_instructions", &c::quantum_instructions, "executed before others have a turn"}},
        {port::initiator("bus", "physical memory"),
         port::irq_in("irq", "0..2 machine software, timer, external; 3..5 supervisor")
             .of_lines(riscv_hart::line_count),
         port::irq_in("reset", "held in reset while high"),
         port::irq_out("awake", "neither in WFI nor in reset").optional(),
         port::uses("time", "what the time CSR shows", &riscv_hart::set_time_source).optional()});
    // Harts that run the same code share what they decoded.
    made.make = [code = std::make_shared<riscv::code_cache>()](const char* name,
                                                               const std::any& config) {
        return std::make_unique<riscv_hart>(name, *std::any_cast<c>(&config), code);
    };
    return made;
}

kind aclint_kind() {
    using c = aclint::config;
    return kind_of<aclint>(
        "aclint", "Machine timers and software interrupts, in the layout of the SiFive CLINT.",
        {{"harts", &c::harts, "at most 64"},
         {"tick", &c::tick, "of mtime"},
         {"access_latency", &c::access_latency, "of each register access"}},
        {port::target("in", "its registers").of_size(0xc000),
         port::irq_out("software", "MSIP, by hart").times(&c::harts),
         port::irq_out("timer", "MTIP, by hart").times(&c::harts),
         port::provides<riscv::mtime_source>("time", "mtime")},
        [](const c& cfg) -> std::optional<std::string> {
            if (cfg.harts >= 1 && cfg.harts <= 64 && cfg.tick > sc_core::SC_ZERO_TIME)
                return std::nullopt;
            return "1 to 64 harts, and a tick that is not 0";
        });
}

kind plic_kind() {
    using c = plic::config;
    return kind_of<plic>("plic", "Platform-level interrupt controller (RISC-V PLIC 1.0.0).",
                         {{"sources", &c::sources, "numbered from 1, at most 1023"},
                          {"contexts", &c::contexts, "a hart in a privilege mode each, at most 64"},
                          {"access_latency", &c::access_latency, "of each register access"}},
                         {port::target("in", "its registers").of_size(0x400'0000),
                          port::irq_in("source", "line n is source n; line 0 does nothing")
                              .of_lines([](const c& cfg) { return cfg.sources + 1; }),
                          port::irq_in("reset", "drops enables and services"),
                          port::irq_out("out", "by context").times(&c::contexts)},
                         [](const c& cfg) -> std::optional<std::string> {
                             if (cfg.sources <= 1023 && cfg.contexts >= 1 && cfg.contexts <= 64)
                                 return std::nullopt;
                             return "at most 1023 sources, and 1 to 64 contexts";
                         });
}

}  // namespace kind_tables
}  // namespace trn

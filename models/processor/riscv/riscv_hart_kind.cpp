// SPDX-License-Identifier: Apache-2.0
#include <any>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "models/kind_tables.h"
#include "models/processor/riscv/execute/assemble.h"
#include "models/processor/riscv/riscv_hart.h"
#include "platform/framework/config/document.h"
#include "platform/framework/netlist/kinds/kind_table.h"

namespace trn {

template <>
struct kind_detail::field_type<riscv::isa> {
    static std::optional<config::refusal> read(std::string_view text, const parameter&,
                                               riscv::isa& field) {
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

}  // namespace trn

namespace trn::kind_tables {

kind riscv_hart_kind() {
    using c = riscv_hart::config;
    auto made = kind_of<riscv_hart>(
        "riscv_hart", "A RISC-V hart: RV64IMAC with M, S and U modes.",
        {{"hart_id", &c::hart_id, any_number, "mhartid"},
         {"clock", &c::clock, hart_clock, "time per instruction"},
         {"reset_vector", &c::reset_vector, unit::address, any_number.multiples_of(4), "first pc"},
         {"isa", &c::isa, "such as rv64imac_zba_zbb_zbs"},
         {"quantum_instructions", &c::quantum_instructions, within(1, 1'000'000),
          "instructions per activation"}},
        {port::initiator("bus", "physical memory"),
         port::irq_in("irq", "0..2 machine software, timer, external; 3..5 supervisor")
             .of_lines(riscv_hart::line_count),
         port::irq_in("reset", "held in reset while high"),
         port::irq_out("awake", "neither in WFI nor in reset").optional(),
         port::uses("time", "source of the time CSR", &riscv_hart::set_time_source).optional(),
         port::uses("imsic", "its interrupt files, with smaia or ssaia",
                    &riscv_hart::set_interrupt_files)
             .optional()});
    made.make = [shared = hart_common()](const char* name, const std::any& config) {
        return std::make_unique<riscv_hart>(name, *std::any_cast<c>(&config), shared);
    };
    made.events = {{"serves ... sleeps", "", "from an interrupt until the hart sleeps"},
                   {"FUNCTION()", "", "a function is entered; only in traces for viewers"}};
    return made;
}

}  // namespace trn::kind_tables

// SPDX-License-Identifier: Apache-2.0
#include "models/assembler/instruction_checks.h"

#include <fmt/format.h>

#include <bit>
#include <string_view>
#include <variant>

#include "models/instructions/codec.h"

namespace trn::isa {

void add_semaphores(const instruction& i, unsigned core, std::span<const relocation> relocations,
                    semaphore_set& semaphores) {
    const auto note = [&](bool is_semaphore, std::uint8_t index) {
        if (is_semaphore) semaphores.insert({static_cast<std::uint8_t>(core), index});
    };
    const auto waits = [](std::uint8_t mode) {
        return (mode >= 1 && mode <= 4) || mode == static_cast<unsigned>(wait_mode::ge_subtract);
    };
    const auto updates = [](std::uint8_t mode) { return (mode & 7) >= 1 && (mode & 7) <= 3; };
    note(waits(i.wait.mode), i.wait.index);
    note(updates(i.update.mode), i.update.index);
    if (const auto* list = std::get_if<sync_list>(&i.control))
        for (const sync_entry& e : *list)
            note((e.mode & sync_entry::update) != 0
                     ? updates(static_cast<std::uint8_t>(e.mode & ~sync_entry::update))
                     : waits(e.mode),
                 e.index);
    if (const auto* copy = std::get_if<dge_copy_fields>(&i.control)) note(true, copy->semaphore);
    for (const relocation& r : relocations)
        if (r.kind == relocation::target::increment)
            semaphores.insert(
                {static_cast<std::uint8_t>(r.core), static_cast<std::uint8_t>(r.object)});
}

void check_instruction(const instruction& i, std::optional<engine> on, generation of,
                       const cursor& in) {
    static constexpr std::uint32_t sbuf[] = {196'608, 229'376, 262'144};
    const bytes word = encode(i);
    const row& kind = *find(i.opcode);
    unsigned any = kind.engines[static_cast<unsigned>(of) - 2];
    const engine e = on.value_or(static_cast<engine>(std::countr_zero(any | 16u)));
    auto found = check_header(std::span(word).first(16), e, of);
    if (!found && !reads_registers(i)) {
        decoded d = decode(word);
        const std::array<std::uint32_t, register_count> none{};
        found = check(d, {e, of, sbuf[static_cast<unsigned>(of) - 2]}, none);
    }
    if (!found) return;
    static constexpr std::string_view operands[] = {"dst", "a", "b", "s0", "s1"};
    const auto which = static_cast<unsigned>(found->operand);
    in.fail(mistake::refused_by_model, 0,
            fmt::format("{}{}: {}", name_of(found->code),
                        which < 5 ? fmt::format(" in {}", operands[which]) : "",
                        found->code == error::out_of_bounds && which < 5
                            ? "an element is outside the partition"
                            : name_of(static_cast<reason>(found->detail))));
}

}  // namespace trn::isa

// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_isa/assembler/instruction_checks.h"

#include <fmt/format.h>

#include <bit>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "models/neuron_isa/instructions/codec.h"

namespace trn::isa {

void add_semaphores(const instruction& i, unsigned core, std::span<const relocation> relocations,
                    semaphore_set& semaphores) {
    const auto note = [&](unsigned owner, unsigned index) {
        semaphores.insert({static_cast<std::uint16_t>(owner), static_cast<std::uint16_t>(index)});
    };
    const auto waits = [&](std::uint8_t mode, unsigned index) {
        const auto m = static_cast<wait_mode>(mode);
        const bool event = m == wait_mode::event_set || m == wait_mode::event_clear;
        if (m != wait_mode::none) note(core, event ? first_event + index : index);
    };
    const auto updates = [&](unsigned mode, unsigned index) {
        const auto m = static_cast<update_mode>(mode & ~unsigned{at_issue});
        const bool event = m == update_mode::event_set || m == update_mode::event_clear;
        if (m != update_mode::none) note(core, event ? first_event + index : index);
    };
    waits(i.wait.mode, i.wait.index);
    updates(i.update.mode, i.update.index);
    if (const auto* list = std::get_if<sync_list>(&i.control))
        for (const sync_entry& e : *list)
            (e.mode & sync_entry::update) != 0
                ? updates(e.mode & ~unsigned{sync_entry::update}, e.index)
                : waits(e.mode, e.index);
    if (const auto* copy = std::get_if<dge_copy_fields>(&i.control)) note(core, copy->semaphore);
    for (const relocation& r : relocations)
        if (r.kind == relocation::target::increment) note(r.core, r.object);
}

namespace {

/// The engines of this generation that have the instruction.
std::string engines_of(const row& kind, generation chip) {
    const unsigned set = kind.engines[static_cast<unsigned>(chip) - 2];
    std::vector<std::string_view> names;
    for (unsigned e = 0; e < engine_count; ++e)
        if ((set >> e & 1) != 0) names.push_back(name_of(static_cast<engine>(e)));
    return fmt::format("{}", fmt::join(names, ", "));
}

std::string generations_of(const row& kind) {
    std::vector<std::string> names;
    for (unsigned g = 0; g < kind.engines.size(); ++g)
        if (kind.engines[g] != 0) names.push_back(fmt::format("v{}", g + 2));
    return fmt::format("{}", fmt::join(names, ", "));
}

/// Suggests a correction; empty where the reason already does.
std::string advice(reason why, const instruction& i, const row& kind, generation chip) {
    switch (why) {
    case reason::operation:
        if (i.reduce_cmd != 0 && i.reduce_op == 0 && kind.reduce_ops != 0)
            return "cmd= needs reduce=, the operator of the accumulators";
        return "NeuronCore spec 3.4 has the operators and their engines";
    case reason::engine:
        return fmt::format("{} is an instruction of {}", kind.mnemonic, engines_of(kind, chip));
    case reason::generation:
        return fmt::format("{} exists on {}", kind.mnemonic, generations_of(kind));
    case reason::partitions:
        return "up to 32 partitions start at 0, 32, 64 or 96, up to 64 at 0 or 64, more at 0";
    case reason::alignment:
        return "SBUF tiles start at a multiple of the element's size, PSUM tiles at one of 4 bytes";
    case reason::shape:
        return "operands have equally many partitions and elements unless the row says otherwise";
    case reason::space:
        return "GPSIMD uses SBUF only, Tensor reads SBUF and writes PSUM, two sources are not both "
               "in PSUM";
    default:
        return {};
    }
}

}  // namespace

void check_instruction(const instruction& i, std::optional<engine> issuer, generation chip,
                       const instruction_reader& reader) {
    static constexpr std::uint32_t sbuf[] = {196'608, 229'376, 262'144};
    const bytes word = encode(i);
    const row& kind = *find(i.opcode);
    unsigned any = kind.engines[static_cast<unsigned>(chip) - 2];
    const engine e = issuer.value_or(static_cast<engine>(std::countr_zero(any | 16u)));
    auto found = check_header(std::span(word).first(16), e, chip);
    if (!found && !reads_registers(i)) {
        decoded d = decode(word);
        const std::array<std::uint32_t, register_count> none{};
        found = check(d, {e, chip, sbuf[static_cast<unsigned>(chip) - 2]}, none);
    }
    if (!found) return;
    static constexpr std::string_view operands[] = {"dst", "a", "b", "s0", "s1"};
    const auto number = static_cast<unsigned>(found->operand);
    const bool outside = found->code == error::out_of_bounds && number < 5;
    const auto why = outside ? reason::none : static_cast<reason>(found->detail);
    const std::string_view key = number < 5                 ? operands[number]
                                 : why == reason::operation ? "op0"
                                                            : "";
    cursor::fail(mistake::refused_by_model, reader.place_of(key),
                 fmt::format("{}{}: {}", name_of(found->code),
                             number < 5 ? fmt::format(" in {}", operands[number]) : "",
                             outside ? "an element is outside the partition" : name_of(why)),
                 advice(why, i, kind, chip));
}

}  // namespace trn::isa

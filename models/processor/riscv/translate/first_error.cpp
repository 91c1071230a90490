// SPDX-License-Identifier: Apache-2.0
#include "models/processor/riscv/translate/first_error.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <optional>

#include "models/processor/riscv/decode/decode.h"

namespace trn::riscv::translate {

namespace {

/// A difference, and the code to which it is narrowed down.
struct error {
    const block& code;
    unsigned from_slot;  ///< where host code of the block was entered
    u64 page;
    std::optional<unsigned> slot;  ///< of the wrong instruction, if known
    std::string difference;
};

std::string name_at(const block& b, unsigned slot) {
    const decoded d = decode(b.slots[slot].bits, b.owner->extensions());
    return d.definition == nullptr ? "illegal" : d.definition->name;
}

/// The instruction of the block, executed from its start or from an entry, after which host code
/// differs.
std::optional<error> wrong_instruction(checked_run& run) {
    hot_block& hot = run.block_of_start();
    const block& b = hot.b;
    const unsigned entry = run.start()->slot;
    unsigned slot = entry;
    while (slot < b.slots.size()) {
        const bool leaves = slot + 1 < b.slots.size() && b.alone[slot + 1u] == nullptr;
        const unsigned next = slot + (leaves ? 3 : 1);
        const handler part = hot.owner.translate_part(hot, static_cast<u8>(entry), next);
        if (part != nullptr) {
            const std::string difference = run.execute(part, 1);
            if (!difference.empty()) return error{b, entry, run.page(), slot, difference};
            run.undo();
        }
        slot = next;
    }
    return std::nullopt;
}

/// Precondition: the run is undone.
error first_error(checked_run& run, i64 budget, const std::string& difference) {
    const handler code = run.block_of_start().entries[run.start()->slot];
    error found{run.block_of_start().b, run.start()->slot, run.page(), std::nullopt, difference};
    i64 equal = 0;  // budget of the longest run without a difference
    for (i64 shorter = 1; shorter < budget;) {
        const std::string now = run.execute(code, shorter);
        const i64 done = shorter - run.end().budget;
        const bool is_spent = run.is_spent();
        run.undo();
        if (!now.empty()) {
            found.difference = now;
            break;
        }
        if (!is_spent) break;
        equal = shorter;
        shorter = done + 1;
    }
    if (equal == 0) return wrong_instruction(run).value_or(found);
    run.execute(code, equal);
    const op* const next = run.next_block();
    if (next == nullptr || block_of(next).native == nullptr) return found;
    checked_run last(run.checked_hart(), next, 0, run.end_pc() & ~u64{4095}, run.space());
    found.difference +=
        fmt::format(", after {} instructions in host code", equal - run.end().budget);
    return wrong_instruction(last).value_or(
        error{block_of(next), 0, last.page(), std::nullopt, found.difference});
}

}  // namespace

void report_first_error(checked_run& run, i64 budget, const std::string& difference) {
    run.undo();
    const error found = first_error(run, budget, difference);
    const auto pc = [&](unsigned slot) { return found.page + found.code.slots[slot].offset; };
    const std::string module = run.checked_hart().memory().describe();
    fmt::print(
        stderr, "trnvp: --hart check: {}host code of the block at {:#x}, from {:#x}: {}{}\n",
        module.empty() ? "" : module + ": ", found.page + found.code.start, pc(found.from_slot),
        found.slot ? fmt::format("{} at {:#x}: ", name_at(found.code, *found.slot), pc(*found.slot))
                   : "",
        found.difference);
    for (unsigned slot = 0; slot < found.code.slots.size(); ++slot) {
        if (found.code.alone[slot] == nullptr) {  // a link; its stub follows
            ++slot;
            continue;
        }
        fmt::print(stderr, "{} {:#x}: {:08x} {}\n", slot == found.slot ? '>' : ' ', pc(slot),
                   found.code.slots[slot].bits, name_at(found.code, slot));
    }
    std::fflush(stderr);
    std::abort();
}

}  // namespace trn::riscv::translate

// SPDX-License-Identifier: Apache-2.0
#include "models/processor/riscv/translate/check.h"

#include <algorithm>

#include "models/processor/riscv/execute/threaded.h"
#include "models/processor/riscv/translate/checked_run.h"
#include "models/processor/riscv/translate/first_error.h"

namespace trn::riscv::translate {

namespace {

/// Returns the part of the budget that was not given to the run. Not inlined: a function that has
/// variables in memory cannot end with a tail call.
[[gnu::noinline]] i64 run_and_compare(TRN_FLOW) {
    auto& hot = static_cast<hot_block&>(*block_of(o).native);
    // The first runs from a block end with it: this shows whether its instructions are counted.
    constexpr u8 short_runs = 2;
    const bool is_short = hot.runs < short_runs;
    if (is_short) ++hot.runs;
    const i64 given = std::min<i64>(budget, is_short ? 1 : outcome::max_instructions);
    checked_run run(h, o, acc, page, *space);
    if (const auto difference = run.execute(hot.entries[o->slot], given); !difference.empty())
        report_first_error(run, given, difference);
    return budget - given;
}

}  // namespace

void check_run(TRN_FLOW) {
    const i64 withheld = run_and_compare(h, o, acc, budget, page, space);
    const outcome& out = static_cast<hot_block&>(*block_of(o).native).owner.result();
    acc = out.acc;
    budget = out.budget + withheld;
    page = out.page;
    const handler next = out.continues;
    // Where the compiler emits no tail calls, a chain of checked runs must not be one of calls.
    if (next != jump_to && (next == out.next->run || (next == out_of_budget && budget > 0)))
        TRN_CONTINUE(out.next);
    return next(h, out.next, acc, budget, page, space);
}

}  // namespace trn::riscv::translate

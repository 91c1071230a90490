// SPDX-License-Identifier: Apache-2.0
#include "models/processor/riscv/execute/first_executions.h"

#include <algorithm>

namespace trn::riscv {

namespace {

/// Whether the operations that the fused operation `first` may include (at most three, ending at a
/// branch) have all been executed. If one faulted, the following ones have not.
bool all_seen(const first_executions& unseen, const op* ops, std::size_t first) {
    const auto end = std::min(first + 3, unseen.alone.size());
    for (auto i = first; i < end && unseen.alone[i] != nullptr; ++i)
        if (ops[i].run == first_time) return false;
    return true;
}

}  // namespace

handler first_seen(const op* o) {
    const std::size_t slot = o->slot;
    const auto& unseen = *block_of(o).unseen;
    for (const auto& p : unseen.places)
        if (p.slot == slot) *p.marks |= p.mark;
    // Like the links, functions are the mutable part of shared code; one thread executes all harts.
    op* const ops = const_cast<op*>(o - slot);
    ops[slot].run = unseen.alone[slot];
    for (auto i = slot < 2 ? 0 : slot - 2; i <= slot; ++i)
        if (unseen.fused[i] != unseen.alone[i] && all_seen(unseen, ops, i))
            ops[i].run = unseen.fused[i];
    return unseen.alone[slot];
}

void first_time(TRN_FLOW) {
    const handler now = first_seen(o);
    return now(h, o, acc, budget, page, space);
}

}  // namespace trn::riscv

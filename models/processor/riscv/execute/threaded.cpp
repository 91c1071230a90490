// SPDX-License-Identifier: Apache-2.0
#include "models/processor/riscv/execute/threaded.h"

#include "models/processor/riscv/execute/first_executions.h"

namespace trn::riscv {

void add_upper_to_pc(TRN_FLOW) {
    acc = page + static_cast<u64>(i64{o->imm});
    h.x[o->rd] = acc;
    TRN_CONTINUE(o + 1);
}

void jump_and_link(TRN_FLOW) {
    h.x[o->rd] = page + static_cast<u64>(i64{o->imm});
    budget -= o->rs2;
    const op* const target = o[1].taken;
    if (budget <= 0) [[unlikely]]
        return out_of_budget(h, target, acc, budget, page, space);
    TRN_CONTINUE(target);
}

void end_of_block(TRN_FLOW) {
    budget -= o->rs2;
    const op* const next = o[1].taken;
    if (budget <= 0) [[unlikely]]
        return out_of_budget(h, next, acc, budget, page, space);
    TRN_CONTINUE(next);
}

void link_near(TRN_FLOW) {
    const op* const target = block_of(o).owner->block_at(static_cast<u32>(o->imm));
    // Links are the only mutable part of shared code; one thread executes all harts.
    const_cast<op*>(o - 1)->taken = target;
    TRN_CONTINUE(target);
}

void link_far(TRN_FLOW) {
    acc = page + static_cast<u64>(i64{o->imm});
    TRN_GO_TO(jump_to);
}

void link_misaligned(TRN_FLOW) {
    // The branch has counted itself; take_fault counts a trapping instruction.
    budget += slot_of(o).before + 1;
    h.suspend(o, budget, page);
    h.exec.raised = {cause::fetch_misaligned, page + static_cast<u64>(i64{o->imm})};
    TRN_GO_TO(take_fault);
}

void out_of_budget(TRN_FLOW) {
    const bool is_stub = o->slot != 0;  // otherwise the first operation of a block
    // The branch was taken without executing its stub: record the stub's coverage.
    if (is_stub && o->run == first_time) first_seen(o);
    if (o->run == link_misaligned) TRN_GO_TO(link_misaligned);
    const u64 offset = is_stub ? static_cast<u64>(i64{o->imm}) : block_of(o).start;
    h.leave(page + offset, budget);
}

void jump_to(TRN_FLOW) {
    if (budget <= 0) [[unlikely]]
        return h.leave(acc, budget);
    jump_entry& e = space->jump_at(acc);
    if (e.pc != acc) [[unlikely]] {
        h.leave(acc, budget);
        const op* const target = h.find_code(acc);
        if (target == nullptr) return;
        budget = h.exec.budget;  // the walk of the page table may have stalled or ended the run
        if (budget <= 0) [[unlikely]]
            return;
        page = acc & ~u64{4095};
        TRN_CONTINUE(target);
    }
    page = acc & ~u64{4095};
    TRN_CONTINUE(e.target);
}

void step_here(TRN_FLOW) {
    h.step_next();
    h.leave(page + slot_of(o).offset, budget);
}

void enter_function(TRN_FLOW) {
    h.suspend(o, budget, page);
    h.memory().entered(*block_of(o).owner->function(slot_of(o).offset));
    TRN_CONTINUE(o + 1);
}

void illegal(TRN_FLOW) {
    h.suspend(o, budget, page);
    h.exec.raised = h.illegal();
    TRN_GO_TO(take_fault);
}

void take_fault(TRN_FLOW) {
    if (h.exec.raised.why == cause::reset) return;
    const op* const slow = h.exec.operation;
    const u64 pc = h.pc_of(slow);
    if (h.exec.raised.why == cause::alone || h.exec.raised.why == cause::deferred) {
        if (h.exec.raised.why == cause::alone) h.step_next();
        return h.leave(pc, h.exec.budget - slot_of(slow).before);
    }
    budget = h.exec.budget - slot_of(slow).before - 1;
    h.exec.budget = budget;
    h.enter_fault(pc);
    acc = h.pc();
    space = h.exec.space;
    TRN_GO_TO(jump_to);
}

}  // namespace trn::riscv

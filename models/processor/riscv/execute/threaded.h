// SPDX-License-Identifier: Apache-2.0
// The executor: templates that convert functions of operands, one per instruction, into operations
// that tail-call each other. The rows of the decode table are built from them.
#pragma once

#include <concepts>
#include <cstring>

#include "models/processor/riscv/decode/decode.h"
#include "models/processor/riscv/hart/hart.h"

namespace trn::riscv {

// --- Exits of a block. Each is the target of a tail call.

/// Jumps to virtual address `acc`, in any page.
void jump_to(TRN_FLOW);
/// The budget is used up: leaves the executor; `o` is the next operation to execute.
void out_of_budget(TRN_FLOW);
/// Takes h.exec.raised as a trap of the operation h.exec.operation.
void take_fault(TRN_FLOW);
/// Stubs of a jump: find the target, store it in the link, and jump there.
void link_near(TRN_FLOW);
void link_far(TRN_FLOW);
void link_misaligned(TRN_FLOW);
/// Leaves the executor, to execute the instruction at `o` alone.
void step_here(TRN_FLOW);
/// The end of a block without a jump.
void end_of_block(TRN_FLOW);
void illegal(TRN_FLOW);
/// Reports the entry of a function.
void enter_function(TRN_FLOW);
void add_upper_to_pc(TRN_FLOW);
void jump_and_link(TRN_FLOW);

#define TRN_GO_TO(label) return label(h, o, acc, budget, page, space)

// --- Operands

enum class source : u8 { x, acc };

template <source From>
[[gnu::always_inline]] inline u64 operand(const hart& h, u8 index, u64 acc) {
    return From == source::acc ? acc : h.x[index];
}

using binary = u64 (*)(u64, u64);
using unary = u64 (*)(u64);
using comparison = bool (*)(u64, u64);

// --- Steps: the fast path of one instruction. False: the slow function must execute it.

template <binary F, source A, source B>
struct register_register {
    [[gnu::always_inline]] static bool run(hart& h, const op* o, u64& acc, address_space*) {
        acc = F(operand<A>(h, o->rs1, acc), operand<B>(h, o->rs2, acc));
        h.x[o->rd] = acc;
        return true;
    }
};

template <binary F, source A>
struct register_immediate {
    [[gnu::always_inline]] static bool run(hart& h, const op* o, u64& acc, address_space*) {
        acc = F(operand<A>(h, o->rs1, acc), static_cast<u64>(i64{o->imm}));
        h.x[o->rd] = acc;
        return true;
    }
};

template <unary F, source A>
struct one_register {
    [[gnu::always_inline]] static bool run(hart& h, const op* o, u64& acc, address_space*) {
        acc = F(operand<A>(h, o->rs1, acc));
        h.x[o->rd] = acc;
        return true;
    }
};

struct constant {
    [[gnu::always_inline]] static bool run(hart& h, const op* o, u64& acc, address_space*) {
        acc = static_cast<u64>(i64{o->imm});
        h.x[o->rd] = acc;
        return true;
    }
};

/// The value is loaded into the hart: a handler that takes the address of a local variable cannot
/// end in a tail call, and the stack would grow with each such load until the quantum ends.
template <typename T>
void load_slowly(TRN_FLOW) {
    h.suspend(o, budget, page);
    const u64 va = h.x[o->rs1] + static_cast<u64>(i64{o->imm});
    const fault f = h.load(va, sizeof(T), h.exec.loaded);
    budget = h.exec.budget;
    page = h.exec.page;
    if (f) {
        h.exec.raised = f;
        acc = 0;
        TRN_GO_TO(take_fault);
    }
    acc = static_cast<u64>(static_cast<T>(h.exec.loaded));
    h.x[o->rd] = acc;
    TRN_CONTINUE(o + 1);
}

/// The fast path is one comparison: page present and access aligned; otherwise the hart handles it.
template <typename T, source A>
struct load {
    static constexpr handler slowly = load_slowly<T>;
    [[gnu::always_inline]] static bool run(hart& h, const op* o, u64& acc, address_space* space) {
        const u64 va = operand<A>(h, o->rs1, acc) + static_cast<u64>(i64{o->imm});
        const tlb_entry& e = space->load_entry(va);
        if (e.tag != tag_of(va, sizeof(T))) [[unlikely]]
            return false;
        T value;
        std::memcpy(&value, reinterpret_cast<const void*>(va + e.host), sizeof(T));
        acc = static_cast<u64>(value);  // sign-extends when T is signed
        h.x[o->rd] = acc;
        return true;
    }
};

template <typename T>
void store_slowly(TRN_FLOW) {
    h.suspend(o, budget, page);
    const u64 va = h.x[o->rs1] + static_cast<u64>(i64{o->imm});
    const fault f = h.store(va, sizeof(T), h.x[o->rs2]);
    budget = h.exec.budget;
    page = h.exec.page;
    if (f) {
        h.exec.raised = f;
        TRN_GO_TO(take_fault);
    }
    TRN_CONTINUE(o + 1);
}

template <typename T, source A, source B>
struct store {
    static constexpr handler slowly = store_slowly<T>;
    [[gnu::always_inline]] static bool run(hart& h, const op* o, u64& acc, address_space* space) {
        const u64 va = operand<A>(h, o->rs1, acc) + static_cast<u64>(i64{o->imm});
        const tlb_entry& e = space->store_entry(va);
        if (e.tag != tag_of(va, sizeof(T))) [[unlikely]]
            return false;
        const T value = static_cast<T>(operand<B>(h, o->rs2, acc));
        std::memcpy(reinterpret_cast<void*>(va + e.host), &value, sizeof(T));
        return true;
    }
};

template <typename S>
concept has_slow_path = requires {
    S::slowly;
};

/// An operation of one step.
template <typename S>
void single(TRN_FLOW) {
    if (!S::run(h, o, acc, space)) [[unlikely]] {
        if constexpr (has_slow_path<S>) TRN_GO_TO(S::slowly);
    }
    TRN_CONTINUE(o + 1);
}

/// Two fused operations: `o` and the next one, which keeps its slot in the block.
template <typename First, typename Second>
void pair(TRN_FLOW) {
    if (!First::run(h, o, acc, space)) [[unlikely]] {
        if constexpr (has_slow_path<First>) TRN_GO_TO(First::slowly);
    }
    ++o;
    if (!Second::run(h, o, acc, space)) [[unlikely]] {
        if constexpr (has_slow_path<Second>) TRN_GO_TO(Second::slowly);
    }
    TRN_CONTINUE(o + 1);
}

/// Three fused operations.
template <typename First, typename Second, typename Third>
void triple(TRN_FLOW) {
    if (!First::run(h, o, acc, space)) [[unlikely]] {
        if constexpr (has_slow_path<First>) TRN_GO_TO(First::slowly);
    }
    ++o;
    if (!Second::run(h, o, acc, space)) [[unlikely]] {
        if constexpr (has_slow_path<Second>) TRN_GO_TO(Second::slowly);
    }
    ++o;
    if (!Third::run(h, o, acc, space)) [[unlikely]] {
        if constexpr (has_slow_path<Third>) TRN_GO_TO(Third::slowly);
    }
    TRN_CONTINUE(o + 1);
}

// --- Control

template <comparison F, source A, source B>
struct test {
    [[gnu::always_inline]] static bool holds(const hart& h, const op* o, u64 acc) {
        return F(operand<A>(h, o->rs1, acc), operand<B>(h, o->rs2, acc));
    }
};

template <typename Test>
void branch(TRN_FLOW) {
    if (Test::holds(h, o, acc)) {
        budget -= o->rd;
        const op* const taken = o[1].taken;
        if (budget <= 0) [[unlikely]]
            return out_of_budget(h, taken, acc, budget, page, space);
        TRN_CONTINUE(taken);
    }
    TRN_CONTINUE(o + 3);
}

template <typename First, typename Test>
void step_and_branch(TRN_FLOW) {
    if (!First::run(h, o, acc, space)) [[unlikely]] {
        if constexpr (has_slow_path<First>) TRN_GO_TO(First::slowly);
    }
    ++o;
    if (Test::holds(h, o, acc)) {
        budget -= o->rd;
        const op* const taken = o[1].taken;
        if (budget <= 0) [[unlikely]]
            return out_of_budget(h, taken, acc, budget, page, space);
        TRN_CONTINUE(taken);
    }
    TRN_CONTINUE(o + 3);
}

/// Calls, returns and computed jumps: most targets are found in the hart's jump cache.
template <source A>
void jump_and_link_register(TRN_FLOW) {
    const u64 target = (operand<A>(h, o->rs1, acc) + static_cast<u64>(i64{o->imm})) & ~u64{1};
    h.x[o->rd] = page + static_cast<u64>(i64{o[1].imm});
    budget -= o->rs2;
    acc = target;
    const jump_entry& e = space->jump_at(target);
    if (e.pc != target || budget <= 0) [[unlikely]]
        TRN_GO_TO(jump_to);
    page = target & ~u64{4095};
    TRN_CONTINUE(e.target);
}

// --- Rare instructions: functions that may fault or change any state

using effect = fault (*)(hart&, const op&);

/// Instructions after which the block continues.
template <effect F>
void aside(TRN_FLOW) {
    h.suspend(o, budget, page);
    h.exec.raised = F(h, *o);
    if (h.exec.raised) TRN_GO_TO(take_fault);
    budget = h.exec.budget;
    TRN_CONTINUE(o + 1);
}

/// Instructions that end the block: h.exec.next_pc is the next pc.
template <effect F>
void system(TRN_FLOW) {
    h.suspend(o, budget, page);
    const u64 pc = h.pc_of(o);
    h.exec.next_pc = pc + length_of(slot_of(o).bits);
    h.exec.raised = F(h, *o);
    if (h.exec.raised) TRN_GO_TO(take_fault);
    budget = h.exec.budget - o->rs2;
    acc = h.exec.next_pc;
    space = h.exec.space;
    TRN_GO_TO(jump_to);
}

// --- Rows

template <binary F>
constexpr variants rr{single<register_register<F, source::x, source::x>>,
                      single<register_register<F, source::acc, source::x>>,
                      single<register_register<F, source::x, source::acc>>,
                      single<register_register<F, source::acc, source::acc>>};
template <binary F>
constexpr variants ri{
    single<register_immediate<F, source::x>>, single<register_immediate<F, source::acc>>,
    single<register_immediate<F, source::x>>, single<register_immediate<F, source::acc>>};
template <unary F>
constexpr variants unaries{single<one_register<F, source::x>>, single<one_register<F, source::acc>>,
                           single<one_register<F, source::x>>,
                           single<one_register<F, source::acc>>};
template <typename T>
constexpr variants loads{single<load<T, source::x>>, single<load<T, source::acc>>,
                         single<load<T, source::x>>, single<load<T, source::acc>>};
template <typename T>
constexpr variants stores{
    single<store<T, source::x, source::x>>, single<store<T, source::acc, source::x>>,
    single<store<T, source::x, source::acc>>, single<store<T, source::acc, source::acc>>};
template <comparison F>
constexpr variants branches{
    branch<test<F, source::x, source::x>>, branch<test<F, source::acc, source::x>>,
    branch<test<F, source::x, source::acc>>, branch<test<F, source::acc, source::acc>>};
constexpr variants register_jumps{
    jump_and_link_register<source::x>, jump_and_link_register<source::acc>,
    jump_and_link_register<source::x>, jump_and_link_register<source::acc>};

constexpr variants same(handler f) {
    return {f, f, f, f};
}

}  // namespace trn::riscv

// SPDX-License-Identifier: Apache-2.0
#include "models/processor/riscv/translate/reference.h"

#include <fmt/format.h>

#include <cstring>
#include <string_view>

#include "models/processor/riscv/execute/threaded.h"
#include "models/processor/riscv/translate/memory_emitter.h"

namespace trn::riscv::translate {

namespace {

reference& run_of(const op* o) {
    return static_cast<const reference_block&>(block_of(o)).run;
}

// --- Functions of operations

/// An operation that host code leaves to the executor.
void leaves_here(TRN_FLOW) {
    run_of(o).differs("is not left to the executor");
    h.leave(page + slot_of(o).offset, budget);
}

/// The operation before which host code has left, perhaps after it has executed it several times.
void end_of_run(TRN_FLOW) {
    const reference& run = run_of(o);
    if (run.ends_before(o, budget)) return h.leave(page + slot_of(o).offset, budget);
    const handler function = run.function_of_end();
    return function(h, o, acc, budget, page, space);
}

/// Whether host code accesses memory that has no entry in the table of pages: in a window, or on a
/// page that is watched in part.
template <typename T>
bool is_accessed(const address_space& space, const watched_entry& watched, u64 va) {
    return space.window.holds(va) || space.beside.holds(va) || watched.permits(va, sizeof(T));
}

template <typename T>
void load_again(TRN_FLOW) {
    const u64 va = h.x[o->rs1] + static_cast<u64>(i64{o->imm});
    const tlb_entry& e = space->load_entry(va);
    if (e.tag == tag_of(va, sizeof(T))) [[likely]] {
        T value;
        std::memcpy(&value, reinterpret_cast<const void*>(va + e.host), sizeof(T));
        acc = static_cast<u64>(value);
    } else {
        if (!is_accessed<T>(*space, space->watched_load_entry(va), va) ||
            h.load(va, sizeof(T), h.exec.loaded))
            TRN_GO_TO(leaves_here);
        acc = static_cast<u64>(static_cast<T>(h.exec.loaded));
    }
    h.x[o->rd] = acc;
    TRN_CONTINUE(o + 1);
}

std::string describe(const outcome::stored* made, const outcome::stored& wanted, u64 va) {
    if (made == nullptr) return fmt::format("stores nothing to {:#x}", va);
    if (made->host == wanted.host && made->size == wanted.size)
        return fmt::format("stores {:#x} to {:#x}, and {:#x} when interpreted", made->value, va,
                           wanted.value);
    return fmt::format("stores {} bytes to {:#x}, and {} bytes to {:#x} when interpreted",
                       made->size, va + (made->host - wanted.host), wanted.size, va);
}

template <typename T>
void store_again(TRN_FLOW) {
    const u64 va = h.x[o->rs1] + static_cast<u64>(i64{o->imm});
    const T value = static_cast<T>(h.x[o->rs2]);
    const tlb_entry& e = space->store_entry(va);
    const bool is_cached = e.tag == tag_of(va, sizeof(T));
    const watched_entry& watched = space->watched_store_entry(va);
    if (!is_cached && !is_accessed<T>(*space, watched, va)) [[unlikely]]
        TRN_GO_TO(leaves_here);
    reference& run = run_of(o);
    const u64 host = va + (is_cached                        ? e.host
                           : watched.permits(va, sizeof(T)) ? watched.host
                                                            : space->window.host);
    const outcome::stored* const made = run.next_store();
    if (made == nullptr || made->host != host || made->size != sizeof(T) || made->value != value)
        [[unlikely]] {
        run.differs(describe(made, {host, 0, value, sizeof(T)}, va));
        return h.leave(page + slot_of(o).offset, budget);
    }
    if (is_cached)
        std::memcpy(reinterpret_cast<void*>(host), &value, sizeof(T));
    else if (h.store(va, sizeof(T), value))
        TRN_GO_TO(leaves_here);
    run.count_store();
    TRN_CONTINUE(o + 1);
}

/// To virtual address `acc`, in any page.
void jump_again(TRN_FLOW) {
    if (budget <= 0) return h.leave(acc, budget);
    const jump_entry& e = space->jump_at(acc);
    const reference_block* const next = e.pc == acc ? run_of(o).find(e.target) : nullptr;
    if (next == nullptr) return h.leave(acc, budget);
    page = acc & ~u64{4095};
    TRN_CONTINUE(next->first());
}

void jump_and_link_register_again(TRN_FLOW) {
    const u64 target = (h.x[o->rs1] + static_cast<u64>(i64{o->imm})) & ~u64{1};
    h.x[o->rd] = page + static_cast<u64>(i64{o[1].imm});
    budget -= o->rs2;
    acc = target;
    TRN_GO_TO(jump_again);
}

void link_near_again(TRN_FLOW) {
    const op* const target = block_of(o).owner->find(static_cast<u32>(o->imm));
    const reference_block* const next = target == nullptr ? nullptr : run_of(o).find(target);
    if (next == nullptr) return h.leave(page + static_cast<u64>(i64{o->imm}), budget);
    const_cast<op*>(o - 1)->taken = next->first();
    TRN_CONTINUE(next->first());
}

void link_far_again(TRN_FLOW) {
    acc = page + static_cast<u64>(i64{o->imm});
    TRN_GO_TO(jump_again);
}

handler access_again(const memory_emitter::access_kind& k) {
    switch (k.size) {
    case 1:
        return k.is_store ? store_again<u8> : k.is_signed ? load_again<i8> : load_again<u8>;
    case 2:
        return k.is_store ? store_again<u16> : k.is_signed ? load_again<i16> : load_again<u16>;
    case 4:
        return k.is_store ? store_again<u32> : k.is_signed ? load_again<i32> : load_again<u32>;
    default:
        return k.is_store ? store_again<u64> : load_again<u64>;
    }
}

/// The function that replaces `alone`, that of an operation in the executor.
handler again(handler alone, u32 bits, isa extensions) {
    if (alone == link_near) return link_near_again;
    if (alone == link_far) return link_far_again;
    if (alone == end_of_block || alone == jump_and_link || alone == add_upper_to_pc) return alone;
    const decoded d = decode(bits, extensions);
    const bool reports_function = alone == enter_function || alone == step_here;
    if (d.definition == nullptr || reports_function || alone == link_misaligned) return leaves_here;
    switch (d.definition->then) {
    case flow::result:
    case flow::store: {
        const auto k = memory_emitter::kind_of(d);
        return k.size == 0 ? alone : access_again(k);
    }
    case flow::branch:
        return alone;
    case flow::jump_register:
        return extensions.has(extension::c) ? jump_and_link_register_again : leaves_here;
    default:
        return std::string_view(d.definition->name) == "fence" ? alone : leaves_here;
    }
}

}  // namespace

reference_block::reference_block(const block& original, reference& repeated) : run(repeated) {
    owner = original.owner;
    start = original.start;
    ops = original.ops;
    slots = original.slots;
    ops[0].home = this;
    for (std::size_t slot = 0; slot < slots.size(); ++slot) {
        op& o = ops[slot + 1];
        if (original.alone[slot] != nullptr)
            o.run = again(original.alone[slot], slots[slot].bits, owner->extensions());
        else if (slot + 1 < slots.size())
            o.taken = &o + 1;  // the stub, until it is executed
    }
}

void reference::execute(hart& h, const run& asked, std::span<const outcome::stored> expected) {
    run_ = asked;
    expected_ = expected;
    stores_ = 0;
    difference_.clear();
    if (asked.first == nullptr) return;
    op* const end = const_cast<op*>(asked.end);
    if (end != nullptr) function_of_end_ = std::exchange(end->run, end_of_run);
    h.exec.budget = asked.budget;
    h.run_operations(asked.first, asked.acc, asked.page);
    if (end != nullptr) end->run = function_of_end_;
}

}  // namespace trn::riscv::translate

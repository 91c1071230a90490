// SPDX-License-Identifier: Apache-2.0
#include "models/processor/riscv/translate/checked_run.h"

#include <fmt/format.h>

#include <cstring>
#include <memory>

#include "models/processor/riscv/execute/threaded.h"
#include "models/processor/riscv/translate/difference.h"

namespace trn::riscv::translate {

namespace {

/// Copies by the library: for these sizes GCC would emit string instructions, which take longer.
template <typename T>
void copy(T& copied, const T& original) {
    std::size_t size = sizeof original;
    asm("" : "+r"(size));
    std::memcpy(&copied, &original, size);
}

/// Whether it is the stub of a link, not an instruction.
bool is_stub(const op* o) {
    return o->slot != 0 && block_of(o).alone[o->slot - 1u] == nullptr;
}

reference_block& reference_of(hot_block& hot) {
    if (hot.again == nullptr) [[unlikely]]
        hot.again = std::make_unique<reference_block>(hot.b, hot.owner.second_execution());
    return *hot.again;
}

hot_block* hot_block_of(const op* o) {
    return static_cast<hot_block*>(block_of(o).native.get());
}

}  // namespace

checked_run::checked_run(hart& h, const op* start, u64 acc, u64 page, address_space& space)
    : h_(h), start_(start), acc_(acc), page_(page), space_(space), hot_(*hot_block_of(start)) {
    copy(x_, h.x);
    copy(f_, h.f);
    copy(csr_, h.csr);
}

reference_block* checked_run::reference_to(const op* first) {
    hot_block* const hot = hot_block_of(first);
    return hot == nullptr ? nullptr : &reference_of(*hot);
}

std::string checked_run::execute(handler code, i64 budget) {
    outcome& out = hot_.owner.result();
    auto& stores = hot_.owner.stores();
    out.next_store = stores.data();
    code(h_, start_, acc_, budget, page_, &space_);
    stored_ = {stores.data(), out.next_store};
    is_within_block_ = out.continues != jump_to && out.next->slot != 0 && !is_stub(out.next);
    // Neither execution changes these.
    const bool is_other = h_.f != f_ || std::memcmp(&h_.csr, &csr_, sizeof csr_) != 0;
    const std::string other =
        is_other ? difference({h_.x, h_.f, h_.csr}, {h_.x, f_, csr_}) : std::string();
    std::array<u64, 33> translated;
    copy(translated, h_.x);
    undo_stores(stored_.size());
    if (is_other) set_registers();
    copy(h_.x, x_);

    constexpr i64 beyond = 1;  // a run that ends within a block must not end with the one before it
    reference& second = hot_.owner.second_execution();
    reference::run repeat{
        .first = &reference_of(hot_).ops[start_->slot + 1u], .acc = acc_, .page = page_};
    i64 left = 0;
    if (is_within_block_) {
        left = repeat.budget_at_end = beyond;
        repeat.budget = budget - out.budget + beyond;
        repeat.end = &reference_of(*hot_block_of(out.next)).ops[out.next->slot + 1u];
    } else if (is_spent()) {
        left = out.budget;
        repeat.budget = budget;
    } else {
        repeat.budget = budget - out.budget;
    }
    const bool is_empty = repeat.end == nullptr && out.budget == budget;
    if (is_empty) repeat.first = nullptr;
    second.execute(h_, repeat, stored_);
    if (is_empty) h_.leave(end_pc(), left);
    done_ = second.stores();
    return other.empty() ? compare(translated, repeat.budget, left) : other;
}

/// `start`, `left`: the budget of the second execution, and what should be left of it.
std::string checked_run::compare(const std::array<u64, 33>& translated, i64 start, i64 left) const {
    const reference& second = hot_.owner.second_execution();
    if (!second.difference().empty()) return second.difference();
    if (h_.pc() != end_pc())
        return fmt::format("the next pc is {:#x}, and {:#x} when interpreted", end_pc(), h_.pc());
    if (h_.exec.budget != left)
        return fmt::format("{} instructions are counted, and {} when interpreted", start - left,
                           start - h_.exec.budget);
    if (done_ != stored_.size())
        return fmt::format("{} stores are made, and {} when interpreted", stored_.size(), done_);
    constexpr auto bytes = 31 * sizeof(u64);
    if (std::memcmp(&translated[1], &h_.x[1], bytes) != 0)
        return difference({translated, f_, csr_}, {h_.x, f_, csr_});
    if (is_within_block_) {
        const u8 kept = slot_of(end().next).in_acc;
        if (kept < 32 && end().acc != h_.x[kept])
            return fmt::format("x{} is left as {:#x}, and is {:#x} when interpreted", kept,
                               end().acc, h_.x[kept]);
    }
    return {};
}

void checked_run::undo() {
    undo_stores(done_);
    done_ = 0;
    set_registers();
}

void checked_run::set_registers() {
    h_.x = x_;
    h_.f = f_;
    h_.csr = csr_;
}

/// Undoes the first `count` stores.
void checked_run::undo_stores(std::size_t count) {
    while (count-- != 0)
        std::memcpy(reinterpret_cast<void*>(stored_[count].host), &stored_[count].before,
                    stored_[count].size);
}

u64 checked_run::end_pc() const {
    if (end().continues == jump_to) return end().acc;
    const op* const next = end().next;
    if (next->slot == 0) return end().page + block_of(next).start;
    return end().page + (is_stub(next) ? static_cast<u64>(i64{next->imm}) : slot_of(next).offset);
}

const op* checked_run::next_block() const {
    const op* const next = end().next;
    if (end().continues != jump_to && next->slot == 0) return next;
    const u64 pc = end_pc();
    if (end().continues != jump_to && (pc & ~u64{4095}) == page_)
        return block_of(next).owner->find(static_cast<u32>(pc & 4095));
    const jump_entry& e = space_.jump_at(pc);
    return e.pc == pc ? e.target : nullptr;
}

}  // namespace trn::riscv::translate

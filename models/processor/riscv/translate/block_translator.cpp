// SPDX-License-Identifier: Apache-2.0
#include "models/processor/riscv/translate/block_translator.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "models/processor/riscv/execute/threaded.h"
#include "models/processor/riscv/translate/jump_emitter.h"

namespace trn::riscv::translate {

namespace {

using asmjit::imm;
using x86::rax;
using x86::rcx;
using x86::rdx;

constexpr u8 discarded = 32;  // rd of an operation whose result is discarded

u64 address_of(const op& o) {
    return reinterpret_cast<u64>(&o);
}
u64 address_of(handler f) {
    return reinterpret_cast<u64>(f);
}

}  // namespace

block_translator::block_translator(const block& b, u64 base, const context& settings,
                                   std::function<u64(const op*)> host_code_of)
    : b_(b),
      shared_(settings.shared),
      options_(settings.chosen),
      host_code_of_(std::move(host_code_of)),
      memory_(registers_, settings.shared, settings.checked) {
    holder_.init(asmjit::Environment::host(), base);
    holder_.attach(&a_);
    start_ = a_.newLabel();
    body_ = a_.newLabel();
    round_ = a_.newLabel();
}

decoded block_translator::instruction(unsigned slot) const {
    const decoded d = decode(b_.slots[slot].bits, b_.owner->extensions());
    return options_.mistranslate == nullptr ? d : options_.mistranslate(d);
}

translated_block block_translator::run(unsigned end) {
    a_.bind(start_);
    if (const auto best = pinning_of_loop()) {
        registers_.assume(*best);
        registers_.adopt();
    }
    a_.bind(body_);
    entries_.emplace_back(0, start_);
    const auto slots = static_cast<unsigned>(b_.slots.size());
    unsigned slot = 0, count = 1;
    for (; count != 0 && slot < std::min(end, slots); slot += count) count = emit(slot);
    if (count != 0) leave_to(std::min(slot, slots - 1));  // the code is part of a block
    for (std::size_t i = 0; i < rare_.size(); ++i) {      // emitting one part may add another
        const rare_part part = std::move(rare_[i]);
        registers_.know(part.known);
        part.emit();
    }

    translated_block made;
    made.starts = !entries_.empty() && entries_.front().first == 0;
    for (const auto& [slot, place] : entries_) {
        const auto adopts = a_.newLabel();
        if (slot != 0) {
            a_.bind(adopts);
            registers_.adopt();
            a_.jmp(place);
        }
        made.entries.push_back({static_cast<u8>(slot), static_cast<u32>(a_.offset())});
        a_.lea(rax, x86::ptr(slot == 0 ? place : adopts));
        a_.jmp(imm(shared_.enter));
    }
    const auto& code = holder_.textSection()->buffer();
    made.code.assign(code.data(), code.data() + code.size());
    made.start = static_cast<u32>(holder_.labelOffset(start_));
    made.links = std::move(links_);
    constexpr unsigned min_instructions = 2;  // amortises the cost of entering and leaving
    made.is_worth_it = instructions_ >= (leaves_ ? min_instructions : 1);
    return made;
}

unsigned block_translator::emit(unsigned slot) {
    const op& o = operation(slot);
    const handler f = b_.alone[slot];
    if (f == end_of_block || f == jump_and_link) {
        if (f == jump_and_link) add_to_page(o.rd, o.imm);
        ++instructions_;
        leave_block(slot, o.rs2);
        return 0;
    }
    const decoded d = instruction(slot);
    const flow then = d.definition == nullptr ? flow::leave : d.definition->then;
    if (f == add_upper_to_pc) {
        add_to_page(o.rd, o.imm);
    } else if (f != enter_function && f != step_here && then == flow::branch) {
        branch(slot, d);
        ++instructions_;
        return 3;
    } else if (f != enter_function && f != step_here && then == flow::jump_register &&
               b_.owner->extensions().has(extension::c)) {
        jump_register(slot, d);
        ++instructions_;
        return 0;
    } else if (f == enter_function || !emit_inline(slot, d)) {
        if (!entries_.empty() && entries_.back().first == slot)
            entries_.pop_back();  // the code would leave immediately
        leave_to(slot);
        leaves_ = true;
        registers_.forget(d.rd);
        const bool ends = f == step_here || f == illegal || then == flow::leave ||
                          then == flow::jump || then == flow::jump_register;
        if (ends && f != enter_function) return 0;
        enter_before(slot + 1);
        return 1;
    }
    ++instructions_;
    return 1;
}

bool block_translator::emit_inline(unsigned slot, const decoded& d) {
    if (d.definition == nullptr || b_.alone[slot] == step_here) return false;
    if (d.definition->then == flow::other) return std::string_view(d.definition->name) == "fence";
    if (const auto k = memory_emitter::kind_of(d); k.size != 0) {
        access(slot, d, k);
        return true;
    }
    return emitter_.emit(d);
}

void block_translator::access(unsigned slot, const decoded& d,
                              const memory_emitter::access_kind& k) {
    const auto outside = a_.newLabel(), inside = a_.newLabel();
    memory_.prepare(d, k);
    const auto before = registers_.known();
    memory_.emit(d, k, outside);
    enter_before(slot + 1);
    a_.bind(inside);
    rare_.push_back({before, [=, this] {
                         memory_.emit_outside(d, k, outside, inside);
                         registers_.know(before);
                         leave_to(slot);
                     }});
}

/// Schedules a rarely executed part; it starts with the register knowledge of this point.
void block_translator::later(std::function<void()> emit_rare) {
    rare_.push_back({registers_.known(), std::move(emit_rare)});
}

void block_translator::add_to_page(unsigned rd, i32 offset) {
    if (rd == discarded) return;
    registers_.complete_users(rd);
    const auto dst = registers_.target(rd);
    a_.mov(dst, frame::slot(frame::page));
    a_.add(dst, imm(offset));
    registers_.settle(rd, dst);
}

// --- Exits

void block_translator::branch(unsigned slot, const decoded& d) {
    using asmjit::x86::CondCode;
    const std::string_view name = d.definition->name;
    const CondCode taken = name == "beq"    ? CondCode::kEqual
                           : name == "bne"  ? CondCode::kNotEqual
                           : name == "blt"  ? CondCode::kSignedLT
                           : name == "bge"  ? CondCode::kSignedGE
                           : name == "bltu" ? CondCode::kUnsignedLT
                                            : CondCode::kUnsignedGE;
    if (loops(slot)) return close_loop(slot, d, taken);
    registers_.compare(d.rs1, d.rs2);
    const unsigned count = operation(slot).rd;
    const auto leaves = a_.newLabel();
    a_.j(taken, leaves);
    later([=, this] {
        a_.bind(leaves);
        leave_block(slot, count);
    });
}

/// Emits a branch to the start of the block. If values are still deferred here, the rounds after
/// the first get separate code in which they stay deferred. An earlier branch to the start begins
/// anew, since other values are known there.
void block_translator::close_loop(unsigned slot, const decoded& d, asmjit::x86::CondCode taken) {
    const bool repeats =
        !repeating_ && !leaves_ && !holder_.isLabelBound(round_) && !registers_.is_complete();
    const bool ends_round = repeating_ && slot == round_end_;
    if (ends_round)
        registers_.match(round_known_);
    else if (!repeats)
        registers_.complete_all();
    registers_.compare(d.rs1, d.rs2);
    const auto passed = a_.newLabel(), joined = a_.newLabel(), spent = a_.newLabel();
    a_.j(asmjit::x86::negateCond(taken), passed);
    count_instructions(operation(slot).rd);
    when_spent(spent, slot);
    const auto known = registers_.known();
    if (repeats) {
        a_.jle(spent);
        repeat_until(slot);
        a_.jmp(joined);
    } else {
        a_.jg(ends_round ? round_ : body_);
        a_.jmp(spent);
    }
    a_.bind(passed);
    registers_.know(known);
    registers_.complete_all();
    a_.bind(joined);
}

/// Emits the block again, up to the branch at `slot`. If that is not taken, continues with all
/// values complete.
void block_translator::repeat_until(unsigned slot) {
    a_.bind(round_);
    round_known_ = registers_.known();
    round_end_ = slot;
    repeating_ = true;
    for (unsigned i = 0; i <= slot;) i += emit(i);
    repeating_ = false;
}

void block_translator::leave_block(unsigned slot, unsigned count) {
    registers_.complete_all();
    const auto spent = a_.newLabel();
    pay(count, spent);
    follow_link(slot);
    when_spent(spent, slot);
}

void block_translator::count_instructions(unsigned count) {
    a_.sub(budget, imm(count + options_.miscount));
}

void block_translator::pay(unsigned count, const asmjit::Label& spent) {
    count_instructions(count);
    a_.jle(spent);
}

/// Whether the link of the operation targets the start of the block.
bool block_translator::loops(unsigned slot) const {
    return b_.alone[slot + 2] == link_near && operation(slot + 2).imm == b_.start;
}

/// The block's most used registers, if it is a loop that gains from pinning them. Each jump out of
/// the loop halves the weight of later instructions; those after the last jump to the start are
/// outside the loop.
std::optional<pinning> block_translator::pinning_of_loop() const {
    bool is_loop = false;
    constexpr unsigned in_each_round = 16;
    unsigned likely = in_each_round;
    std::array<unsigned, 32> all{}, uses{};
    for (unsigned slot = 0; slot < b_.slots.size(); ++slot) {
        if (b_.alone[slot] == nullptr) {  // a link; its stub follows
            if (slot + 1 < b_.slots.size() && loops(slot - 1)) {
                is_loop = true;
                uses = all;
            }
            ++slot;
            likely = (likely + 1) / 2;
            continue;
        }
        const decoded d = instruction(slot);
        if (d.definition == nullptr || register_emitter::is_deferred(d)) continue;
        const format f = d.definition->layout;
        if (f != format::s && f != format::b) all[d.rd] += likely;
        if (f != format::u && f != format::j) all[d.rs1] += likely;
        if (f == format::r || f == format::s || f == format::b) all[d.rs2] += likely;
    }
    if (!is_loop) return std::nullopt;
    uses[0] = 0;
    constexpr unsigned min_gain = 2 * in_each_round;  // amortises the cost of exchanging registers
    pinning best = between_blocks;
    for (;;) {
        const auto used = [&](unsigned index) { return uses[index]; };
        unsigned most = 0;
        for (unsigned i = 1; i < uses.size(); ++i)
            if (std::ranges::find(best, i) == best.end() && uses[i] > uses[most]) most = i;
        const auto least = std::ranges::min_element(best, {}, used);
        if (uses[most] < used(*least) + min_gain) return best;
        *least = static_cast<u8>(most);
    }
}

/// Continues after an operation that leaves: its link, then the link's stub.
void block_translator::follow_link(unsigned slot) {
    const op& link = operation(slot + 1);
    if (loops(slot)) {
        a_.jmp(body_);
        return;
    }
    registers_.release();
    if (b_.alone[slot + 2] == link_far) {
        a_.mov(rax, frame::slot(frame::page));
        a_.add(rax, imm(operation(slot + 2).imm));
        a_.jmp(imm(shared_.dispatch));
        return;
    }
    if (const u64 known = host_code_of_(link.taken); known != 0) {
        a_.jmp(imm(known));
        return;
    }
    if (b_.alone[slot + 2] == link_near)
        links_.push_back(
            {static_cast<u32>(a_.offset()), static_cast<u16>(operation(slot + 2).imm)});
    a_.mov(rax, imm(address_of(link)));
    a_.mov(rax, x86::qword_ptr(rax));
    emit_continue(a_);
}

void block_translator::when_spent(const asmjit::Label& spent, unsigned slot) {
    later([=, this] {
        a_.bind(spent);
        registers_.complete_all();
        registers_.release();
        a_.mov(rax, imm(address_of(operation(slot + 1))));
        a_.mov(rax, x86::qword_ptr(rax));
        a_.mov(rcx, imm(address_of(&out_of_budget)));
        a_.jmp(imm(shared_.leave));
    });
}

void block_translator::jump_register(unsigned slot, const decoded& d) {
    registers_.complete_all();
    const op& o = operation(slot);
    const auto base = registers_.source(d.rs1, rax);
    a_.lea(rax, x86::ptr(base, d.imm));
    a_.and_(rax, imm(-2));
    if (o.rd != discarded) {
        a_.mov(rcx, frame::slot(frame::page));
        a_.add(rcx, imm(operation(slot + 1).imm));
        registers_.settle(o.rd, rcx);
    }
    const auto spent = a_.newLabel();
    pay(o.rs2, spent);
    registers_.release();
    emit_dispatch(a_, shared_.leave);
    later([=, this] {
        a_.bind(spent);
        registers_.release();
        emit_jump_by_executor(a_, shared_.leave);
    });
}

/// Leaves to the executor, which continues with the operation at `slot`.
void block_translator::leave_to(unsigned slot) {
    registers_.complete_all();
    if (const u8 kept = b_.slots[slot].in_acc; kept < 32) {
        const auto value = registers_.source(kept, rdx);
        if (value != rdx) a_.mov(rdx, value);
    }
    registers_.release();
    a_.mov(rax, imm(address_of(operation(slot))));
    a_.mov(rcx, imm(address_of(b_.alone[slot])));
    a_.jmp(imm(shared_.leave));
}

void block_translator::enter_before(unsigned slot) {
    if (repeating_) return;  // the first round contains it
    const auto entry = a_.newLabel();
    a_.bind(entry);
    entries_.emplace_back(slot, entry);
}

}  // namespace trn::riscv::translate

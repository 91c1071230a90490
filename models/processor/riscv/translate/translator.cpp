// SPDX-License-Identifier: Apache-2.0
#include "models/processor/riscv/translate/translator.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "models/processor/riscv/execute/threaded.h"
#include "models/processor/riscv/translate/block_translator.h"
#include "models/processor/riscv/translate/jump_emitter.h"
#include "platform/framework/log.h"

namespace trn::riscv::translate {

namespace {

hot_block& hot_of(const op* o) {
    return static_cast<hot_block&>(*block_of(o).native);
}

/// Function of the first operation of a block without host code.
void count_execution(TRN_FLOW) {
    hot_block& hot = hot_of(o);
    if (!hot.owner.count(hot)) {
        const handler first = hot.first;
        return first(h, o, acc, budget, page, space);
    }
    hot.owner.translate(hot, page);
    TRN_CONTINUE(o);
}

/// Operations are shared and constant, except links and functions set by back ends.
op& changeable(const block& b, unsigned slot) {
    return const_cast<op&>(b.ops[slot + 1]);
}

/// Name for a profile: the address, and the function if known.
std::string name_of(const block& b, u64 page) {
    const std::string* const function = b.owner->function_around(b.start);
    return fmt::format("hart {:#x}{}", page + b.start, function == nullptr ? "" : " " + *function);
}

}  // namespace

hot_block::~hot_block() {
    owner.forget(*this);
}

translator::translator(const options& chosen, const check_mode* check)
    : options_(chosen),
      checked_(check == nullptr ? nullptr : check->checked),
      region_(chosen.region) {
    if (!region_.usable()) return;
    if (check != nullptr) {
        stores_ = std::make_unique<std::array<outcome::stored, outcome::max_stores>>();
        second_execution_ = std::make_unique<reference>(check->find);
    }
    const auto code = shared_.make(reinterpret_cast<u64>(region_.next()),
                                   checked_ != nullptr ? &result_ : nullptr);
    if (!region_.add(code)) shared_ = {};
    kept_ = region_.used();
}

void translator::adopt(block& b) {
    b.ops[0].fall = reinterpret_cast<const op*>(shared_.leave_to);
    if (b.unseen || refused_) return;  // coverage needs the operations
    b.native = std::make_unique<hot_block>(*this, b, unused_counter());
    b.ops[1].run = count_execution;
}

/// Without watched bytes, accesses do not pay for them.
void translator::expect_watched_bytes() {
    if (!std::exchange(shared_.watches, true)) drop_all();
}

/// Emits code for address region_.next().
translated_block translator::make(const hot_block& hot, unsigned end) {
    const auto host_code_of = [&hot](const op* target) -> u64 {
        const auto* const known =
            target->run == link_near || target->run == link_far || target->run == link_misaligned
                ? nullptr
                : static_cast<const hot_block*>(block_of(target).native.get());
        return known == nullptr ? 0 : known->start;
    };
    return block_translator(hot.b, reinterpret_cast<u64>(region_.next()),
                            {shared_, checked_ != nullptr ? &result_ : nullptr, options_},
                            host_code_of)
        .run(end);
}

void translator::translate(hot_block& hot, u64 page) {
    block& b = hot.b;
    changeable(b, 0).run = hot.first;
    if (refused_) return;
    translated_block made = make(hot, all_slots);
    if (made.code.size() > region_.room()) {
        drop_all();
        changeable(b, 0).run = hot.first;
        made = make(hot, all_slots);
    }
    if (!made.is_worth_it || made.code.size() > region_.room()) return;
    const std::span placed(region_.next(), made.code.size());
    const u64 base = reinterpret_cast<u64>(placed.data());
    if (!region_.add(made.code)) return refuse();
    if (options_.perf_map) perf_map_.add(placed, name_of(b, page));
    // Links without a target block leave to the executor.
    for (unsigned slot = 0; slot + 2 < b.slots.size(); ++slot)
        if (b.alone[slot + 1] == nullptr && b.alone[slot + 2] != nullptr)
            changeable(b, slot + 1).fall = reinterpret_cast<const op*>(shared_.leave_to);
    if (checked_ != nullptr) hot.entries.resize(b.slots.size());
    for (const auto& e : made.entries) {
        op& o = changeable(b, e.slot);
        const auto entry = reinterpret_cast<handler>(base + e.offset);
        hot.replaced.emplace_back(e.slot, o.run);
        if (checked_ != nullptr) hot.entries[e.slot] = entry;
        o.run = checked_ != nullptr ? checked_ : entry;
    }
    translated_.insert(&hot);
    for (const auto& link : made.links)
        waiting_.emplace(place_of(b, link.target), placed.data() + link.offset);
    if (!made.starts) return;
    hot.start = base + made.start;
    b.ops[0].fall = reinterpret_cast<const op*>(hot.start);
    join_links_to(hot);
}

handler translator::translate_part(const hot_block& hot, u8 entry, unsigned end) {
    const translated_block made = make(hot, end);
    const std::size_t used = region_.used();
    const auto* const place = region_.next();
    if (!region_.add(made.code)) return nullptr;
    region_.shrink(used);
    for (const auto& e : made.entries)
        if (e.slot == entry)
            return reinterpret_cast<handler>(reinterpret_cast<u64>(place) + e.offset);
    return nullptr;
}

/// Patches earlier translated blocks to jump directly to this one.
void translator::join_links_to(const hot_block& hot) {
    const auto [first, end] = waiting_.equal_range(place_of(hot.b, hot.b.start));
    for (auto link = first; link != end; ++link) {
        const u8* const jump = link->second;
        if (!region_.replace(jump, direct_jump(reinterpret_cast<u64>(jump), hot.start)))
            return refuse();
    }
    waiting_.erase(first, end);
}

void translator::forget(hot_block& hot) {
    translated_.erase(&hot);
    waiting_.erase(place_of(hot.b, hot.b.start));
    unused_.push_back(hot.number);
}

u32 translator::unused_counter() {
    if (unused_.empty()) {
        executions_.push_back(0);
        return static_cast<u32>(executions_.size() - 1);
    }
    const u32 number = unused_.back();
    unused_.pop_back();
    executions_[number] = 0;
    return number;
}

void translator::refuse() {
    refused_ = true;
    log::info("riscv", "harts interpret from now on: this host no longer lets programs make code");
    drop_all();
}

void translator::drop_all() {
    for (hot_block* const hot : translated_) count_anew(*hot);
    translated_.clear();
    waiting_.clear();
    region_.shrink(kept_);
    ++drops_;
}

void translator::count_anew(hot_block& hot) {
    for (const auto& [slot, run] : hot.replaced) changeable(hot.b, slot).run = run;
    hot.replaced.clear();
    hot.entries.clear();
    hot.start = 0;
    executions_[hot.number] = 0;
    hot.b.ops[0].fall = reinterpret_cast<const op*>(shared_.leave_to);
    hot.b.ops[1].run = refused_ ? hot.first : count_execution;
}

}  // namespace trn::riscv::translate

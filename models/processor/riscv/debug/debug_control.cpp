// SPDX-License-Identifier: Apache-2.0
#include "models/processor/riscv/debug/debug_control.h"

#include <algorithm>
#include <utility>

namespace trn::riscv {

namespace {

/// Erases one of the elements equal to `value`: two clients may have added the same.
template <typename T>
void erase_one(std::vector<T>& all, const T& value) {
    const auto found = std::find(all.begin(), all.end(), value);
    if (found != all.end()) all.erase(found);
}

}  // namespace

void debug_control::halt(const stop& why) {
    halted_ = true;
    stop_ = why;
}

void debug_control::resume(bool single_step, u64 pc) {
    halted_ = false;
    stepping_ = single_step;
    skipped_breakpoint_ = pc;
    completes_wfi_ = false;
    stop_ = {};
}

void debug_control::remove(u64 breakpoint) {
    erase_one(breakpoints_, breakpoint);
}

void debug_control::remove(const watchpoint& w) {
    erase_one(watchpoints_, w);
}

std::optional<u64> debug_control::watched(u64 va, u64 size, access kind) const {
    for (const watchpoint& w : watchpoints_)
        if (w.concerns(kind) && w.watched().overlaps({va, va + (size - 1)}))
            return std::max(va, w.address);
    return std::nullopt;
}

address_range debug_control::watched(access kind, const address_range& limits) const {
    address_range all;
    for (const watchpoint& w : watchpoints_)
        if (w.concerns(kind)) all.include(w.watched(), limits);
    return all;
}

void debug_control::exclude_watched(address_range& range, u64 address) const {
    for (const watchpoint& w : watchpoints_) range.exclude(w.watched(), address);
}

std::vector<u16> debug_control::breakpoints_in_page(u64 va) const {
    std::vector<u16> offsets;
    for (const u64 pc : breakpoints_)
        if (pc - va < 4096) offsets.push_back(static_cast<u16>(pc - va));
    std::ranges::sort(offsets);
    offsets.erase(std::ranges::unique(offsets).begin(), offsets.end());
    return offsets;
}

bool debug_control::takes_breakpoint(u64 pc) {
    if (skipped_breakpoint_ == pc) {
        skipped_breakpoint_.reset();
        return false;
    }
    return std::ranges::find(breakpoints_, pc) != breakpoints_.end();
}

std::optional<debug_control::stop> debug_control::end_instruction() {
    completes_wfi_ = false;
    const bool stepped = std::exchange(stepping_, false);
    if (hit_) return std::exchange(hit_, std::nullopt);
    if (stepped) return stop{stop_reason::step};
    return std::nullopt;
}

}  // namespace trn::riscv

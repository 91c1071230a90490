// SPDX-License-Identifier: Apache-2.0
#include "models/riscv/quantum_queue.h"

#include <algorithm>
#include <utility>

#include "platform/framework/kernel/time_value.h"

namespace trn {

namespace {

std::uint64_t now() {
    return sc_core::sc_time_stamp().value();
}

}  // namespace

void quantum_queue::schedule(client& of, std::uint64_t at) {
    sc_assert(of.due_ == never && at > now());
    of.due_ = at;
    group_at(at).push_back(&of);
    if (active_.empty() && groups_.begin()->first == at) notify();
}

/// Reuses the group of an earlier time, and its memory.
quantum_queue::group& quantum_queue::group_at(std::uint64_t time) {
    const auto next = groups_.lower_bound(time);
    if (next != groups_.end() && next->first == time) return next->second;
    if (spare_.empty()) return groups_.emplace_hint(next, time, group{})->second;
    spare_.key() = time;
    return groups_.insert(next, std::move(spare_))->second;
}

void quantum_queue::cancel(client& of) {
    const std::uint64_t due = std::exchange(of.due_, never);
    if (due == never) return;
    if (!active_.empty() && active_.key() == due) {
        std::ranges::replace(active_.mapped(), &of, nullptr);
        return;
    }
    const auto found = groups_.find(due);
    std::erase(found->second, &of);
    if (!found->second.empty()) return;
    groups_.erase(found);
    if (active_.empty()) notify();
}

std::uint64_t quantum_queue::until_next() const {
    if (!active_.empty() && turn_ + 1 < active_.mapped().size()) return 0;
    return groups_.empty() ? never : groups_.begin()->first - now();
}

/// Notifies the event for the earliest group.
void quantum_queue::notify() {
    if (due_ == nullptr) {
        due_ = std::make_unique<sc_core::sc_event>(sc_core::sc_gen_unique_name("quantum_end"));
        sc_core::sc_spawn_options options;
        options.spawn_method();
        options.set_sensitivity(due_.get());
        options.dont_initialize();
        sc_core::sc_spawn([this] { activate(); }, sc_core::sc_gen_unique_name("quanta"), &options);
    }
    due_->cancel();
    if (!groups_.empty()) due_->notify(time_of_value(groups_.begin()->first - now()));
}

void quantum_queue::activate() {
    active_ = groups_.extract(groups_.begin());
    activate_all(active_.mapped());
    spare_ = std::move(active_);
    spare_.mapped().clear();
    notify();
}

void quantum_queue::activate_all(group& due) {
    const auto number = [](const client* of) { return of->number_; };
    if (!std::ranges::is_sorted(due, {}, number)) std::ranges::sort(due, {}, number);
    for (turn_ = 0; turn_ < due.size(); ++turn_) {
        client* const turn = due[turn_];
        if (turn == nullptr) continue;
        turn->due_ = never;
        turn->quantum_ended();
    }
}

}  // namespace trn

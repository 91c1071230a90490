// SPDX-License-Identifier: Apache-2.0
#include "models/riscv/quantum_queue.h"

#include <algorithm>
#include <functional>
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
    groups_[at].push_back(&of);
    if (groups_.begin()->first == at) notify();
}

void quantum_queue::cancel(client& of) {
    const std::uint64_t due = std::exchange(of.due_, never);
    if (due == never) return;
    const auto found = groups_.find(due);
    std::erase(found->second, &of);
    if (!found->second.empty() || due == now()) return;  // activate() removes the current group
    const bool was_first = found == groups_.begin();
    groups_.erase(found);
    if (was_first) notify();
}

std::uint64_t quantum_queue::until_next() const {
    for (const auto& [time, waiting] : groups_)
        if (!waiting.empty()) return time - now();
    return never;
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

/// The group stays the first one meanwhile, so that its clients can still be withdrawn.
void quantum_queue::activate() {
    group& waiting = groups_.begin()->second;
    // From the last one constructed to the first, which is then at the end.
    std::ranges::sort(waiting, std::ranges::greater{}, &client::number_);
    while (!waiting.empty()) {
        client& turn = *waiting.back();
        waiting.pop_back();
        turn.due_ = never;
        turn.quantum_ended();
    }
    groups_.erase(groups_.begin());
    notify();
}

}  // namespace trn

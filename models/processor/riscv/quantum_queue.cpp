// SPDX-License-Identifier: Apache-2.0
#include "models/processor/riscv/quantum_queue.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <utility>

#include "platform/framework/kernel/random.h"
#include "platform/framework/kernel/time_value.h"

namespace trn {

namespace {

std::uint64_t now() {
    return sc_core::sc_time_stamp().value();
}

}  // namespace

void quantum_queue::schedule(client& processor, std::uint64_t time) {
    sc_assert(processor.due_ == never && time > now());
    processor.due_ = time;
    groups_[time].push_back(&processor);
    if (groups_.begin()->first == time) notify();
}

void quantum_queue::cancel(client& processor) {
    std::erase(deferred_, &processor);
    const std::uint64_t due = std::exchange(processor.due_, never);
    if (due == never) return;
    const auto found = groups_.find(due);
    std::erase(found->second, &processor);
    if (!found->second.empty() || due == now()) return;  // activate() removes the current group
    const bool was_first = found == groups_.begin();
    groups_.erase(found);
    if (was_first) notify();
}

std::uint64_t quantum_queue::until_next() const {
    if (!deferred_.empty()) return 0;
    for (const auto& [time, waiting] : groups_)
        if (!waiting.empty()) return time - now();
    return never;
}

sc_core::sc_event& quantum_queue::event() {
    if (due_ == nullptr) {
        due_ = std::make_unique<sc_core::sc_event>(sc_core::sc_gen_unique_name("quantum_end"));
        sc_core::sc_spawn_options options;
        options.spawn_method();
        options.set_sensitivity(due_.get());
        options.dont_initialize();
        sc_core::sc_spawn([this] { activate(); }, sc_core::sc_gen_unique_name("quanta"), &options);
    }
    return *due_;
}

/// Notifies the event for the processors that are next.
void quantum_queue::notify() {
    if (due_ != nullptr) due_->cancel();
    if (!deferred_.empty())
        event().notify(sc_core::SC_ZERO_TIME);
    else if (!groups_.empty())
        event().notify(time_of_value(groups_.begin()->first - now()));
}

/// The group stays the first one until its clients have run, so that they can be withdrawn.
void quantum_queue::activate() {
    if (is_held()) return;
    if (!activate_all(deferred_)) return;
    if (const auto first = groups_.begin(); first != groups_.end() && first->first == now()) {
        // From the last one constructed to the first, which is then at the end.
        if (varies())
            std::ranges::sort(first->second, {}, [this](auto* each) { return chance(*each); });
        else
            std::ranges::sort(first->second, std::ranges::greater{}, &client::number_);
        if (!activate_all(first->second)) return;
        groups_.erase(first);
    }
    notify();
}

/// False: a debugger has halted one, and the rest waits.
bool quantum_queue::activate_all(group& waiting) {
    while (!waiting.empty()) {
        client& turn = *waiting.back();
        waiting.pop_back();
        turn.due_ = never;
        turn.quantum_ended();
        if (holder_ != nullptr) return false;
    }
    return true;
}

// --- A varied schedule

/// A random number of the processor at this time.
std::uint64_t quantum_queue::chance(const client& processor) const {
    return mix_bits(mix_bits(seed_ + mix_bits(processor.number_)) + now());
}

std::uint64_t quantum_queue::length(const client& processor, std::uint64_t max) const {
    if (!varies()) return max;
    // Short turns find little if the other harts have long ones.
    constexpr std::uint64_t period = 1'000'000;  // 1 us
    const auto magnitude = mix_bits(mix_bits(seed_) + now() / period) %
                           (1 + static_cast<unsigned>(std::bit_width(max)));
    const std::uint64_t longest = std::min(max, std::uint64_t{1} << magnitude);
    return 1 + mix_bits(chance(processor)) % longest;
}

// --- A processor that a debugger has halted

void quantum_queue::hold(client& processor) {
    holder_ = &processor;
    held_in_ = sc_core::sc_delta_count();
    notify();
}

void quantum_queue::end_hold() {
    holder_ = nullptr;
    notify();
}

/// Ends when the simulation continues while the processor stays halted.
bool quantum_queue::is_held() {
    if (holder_ == nullptr) return false;
    if (held_in_ == sc_core::sc_delta_count()) {
        event().notify(sc_core::SC_ZERO_TIME);
        return true;
    }
    if (holder_->continues()) return true;  // and calls release() afterwards
    holder_ = nullptr;
    return false;
}

bool quantum_queue::defer(client& processor) {
    if (!is_held()) return false;
    deferred_.insert(deferred_.begin(), &processor);
    return true;
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_core/sequencer/units/wait_unit.h"

#include <fmt/format.h>

#include <string_view>

#include "models/neuron_core/sequencer/timing/timing.h"

namespace trn {

using isa::wait_mode;

namespace {

/// Indexed by wait mode.
constexpr std::string_view signs[] = {"", ">=", "==", "<=", "!=", "", "", ">="};

}  // namespace

bool wait_unit::is_met(const isa::wait_condition& c) const {
    const std::int32_t value = core_.sync.value(c.index);
    const bool event = core_.sync.event(c.index) != 0;
    switch (static_cast<wait_mode>(c.mode)) {
    case wait_mode::none:
        return true;
    case wait_mode::ge:
    case wait_mode::ge_subtract:
        return value >= c.value;
    case wait_mode::eq:
        return value == c.value;
    case wait_mode::le:
        return value <= c.value;
    case wait_mode::ne:
        return value != c.value;
    case wait_mode::event_set:
        return event;
    case wait_mode::event_clear:
        return !event;
    }
    return true;
}

progress wait_unit::poll(const isa::wait_condition& c, std::uint32_t pc) {
    const auto now = clock_.now();
    if (is_met(c)) {
        if (since_) {  // before the subtraction, which is a post too
            count(c.index);
            timeline_.end_wait(core_.sync.poster_of(c.index), now - *since_);
            clock_.reach(now + clock_.of_ns(isa::wake_ns));
            since_.reset();
        }
        if (static_cast<wait_mode>(c.mode) == wait_mode::ge_subtract)
            signals_.update(
                {static_cast<std::uint8_t>(isa::update_mode::subtract), c.index, c.value}, pc);
        if (core_.observer != nullptr && c.mode != 0) core_.observer->waited(engine_, c.index);
        return finished{};
    }
    if (!since_) {
        since_ = now;
        condition_ = c;
        timeline_.begin_wait(pc, [this] { return reason(); });
        signals_.send(notification::kind::trace, (pc & 0xff'ffff) | 2u << 30);
    }
    condition_ = c;
    const std::uint64_t limit_us = settings_.wait_limit_us();
    if (limit_us == 0) return sleeping{{}, &core_.sync.changed()};
    const auto deadline = *since_ + clock_.of_ns(limit_us * 1000);
    if (now < deadline) return sleeping{deadline, &core_.sync.changed()};
    count(c.index);
    return isa::fault{isa::error::timeout, isa::operand::none, c.index};
}

/// Counts a wait for semaphore or event `index` that ends now.
void wait_unit::count(unsigned index) {
    const auto cycles = clock_.now() - *since_;
    counters_.wait_cycles += cycles;
    counters_.wait_cycles_by_index[index] += cycles;
    if (core_.sync.poster_of(index).kind == initiator::kind::dma)
        counters_.dma_wait_cycles += cycles;
}

std::string wait_unit::reason() const {
    const auto mode = static_cast<wait_mode>(condition_.mode);
    if (mode == wait_mode::event_set || mode == wait_mode::event_clear)
        return fmt::format("E[{}] {}", condition_.index,
                           mode == wait_mode::event_set ? "set" : "clear");
    return fmt::format("S[{}] {} {}", condition_.index, signs[condition_.mode], condition_.value);
}

std::string wait_unit::describe() const {
    const auto mode = static_cast<wait_mode>(condition_.mode);
    if (mode == wait_mode::event_set || mode == wait_mode::event_clear)
        return fmt::format("waits until event {} is {}", condition_.index,
                           mode == wait_mode::event_set ? "set" : "clear");
    return fmt::format("waits for {}, which is {}", reason(), core_.sync.value(condition_.index));
}

}  // namespace trn

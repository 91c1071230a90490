// SPDX-License-Identifier: Apache-2.0
#include "models/sequencer/wait_unit.h"

#include <fmt/format.h>

#include <string_view>

#include "models/sequencer/timing.h"

namespace trn {

using isa::wait_mode;

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
        if (static_cast<wait_mode>(c.mode) == wait_mode::ge_subtract)
            core_.sync.add(c.index, -std::int64_t{c.value});
        if (since_) {
            counters_.wait_cycles += now - *since_;
            clock_.reach(now + clock_.of_ns(isa::wake_ns));
            since_.reset();
        }
        return finished{};
    }
    if (!since_) {
        since_ = now;
        signals_.send(notification::kind::trace, (pc & 0xff'ffff) | 2u << 30);
    }
    condition_ = c;
    const std::uint64_t limit_us = settings_.wait_limit_us();
    if (limit_us == 0) return sleeping{{}, &core_.sync.changed()};
    const auto deadline = *since_ + clock_.of_ns(limit_us * 1000);
    if (now < deadline) return sleeping{deadline, &core_.sync.changed()};
    counters_.wait_cycles += now - *since_;
    return isa::fault{isa::error::timeout, isa::operand::none, c.index};
}

std::string wait_unit::describe() const {
    static constexpr std::string_view signs[] = {"", ">=", "==", "<=", "!=", "", "", ">="};
    const auto mode = static_cast<wait_mode>(condition_.mode);
    if (mode == wait_mode::event_set || mode == wait_mode::event_clear)
        return fmt::format("waits until event {} is {}", condition_.index,
                           mode == wait_mode::event_set ? "set" : "clear");
    return fmt::format("waits for S[{}] {} {}, which is {}", condition_.index,
                       signs[condition_.mode], condition_.value,
                       core_.sync.value(condition_.index));
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_core/sequencer/shared/engine_signals.h"

namespace trn {

namespace config = sequencer_regs::notify_config;

void engine_signals::update(const isa::semaphore_update& u, std::uint32_t pc, bool early) {
    if (core_.observer != nullptr && u.mode != 0) core_.observer->posts(engine_, u.index, early);
    switch (static_cast<isa::update_mode>(u.mode)) {
    case isa::update_mode::none:
        return;
    case isa::update_mode::add:
        return add(u.index, u.value, pc);
    case isa::update_mode::subtract:
        return add(u.index, -std::int64_t{u.value}, pc);
    case isa::update_mode::set:
        return core_.sync.set(u.index, u.value);
    case isa::update_mode::event_set:
        return set_event(u.index, true);
    case isa::update_mode::event_clear:
        return set_event(u.index, false);
    }
}

/// Counts and notifies a wrap; the engine continues (spec 10.1, code 8).
void engine_signals::add(unsigned index, std::int64_t amount, std::uint32_t pc) {
    const std::int64_t sum = core_.sync.value(index) + amount;
    core_.sync.add(index, amount);
    if (sum == static_cast<std::int32_t>(sum)) return;
    ++counters_.semaphore_wraps;
    send(notification::kind::error, static_cast<std::uint32_t>(isa::error::semaphore) | pc << 8);
}

void engine_signals::set_event(unsigned index, bool value) {
    core_.sync.set_event(index, value ? 1 : 0);
    send(notification::kind::event, index | (value ? 1u << 8 : 0));
}

void engine_signals::send(notification::kind kind, std::uint32_t payload) {
    register_field slot = config::error_slot, enabled = config::errors;
    if (kind == notification::kind::notify) {
        slot = config::notify_slot;
        enabled = config::notifications;
    } else if (kind == notification::kind::trace) {
        slot = config::trace_slot;
        enabled = config::traces;
    } else if (kind == notification::kind::event) {
        slot = config::event_slot;
        enabled = config::events;
    }
    const std::uint32_t settings = settings_.notify_config();
    if (enabled.get(settings) == 0) return;
    core_.notify(static_cast<unsigned>(slot.get(settings)),
                 {kind, static_cast<std::uint8_t>(engine_), payload});
}

}  // namespace trn

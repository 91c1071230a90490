// SPDX-License-Identifier: Apache-2.0
#include "models/cards/ena/queues/interrupts.h"

#include <algorithm>
#include <utility>

#include "platform/framework/tlm/bandwidth_resource.h"

namespace trn::ena_queues {

using sc_core::sc_time;

interrupts::interrupts(sc_core::sc_module_name name, std::function<void(unsigned)> raise)
    : sc_module(name), raise_(std::move(raise)) {
    SC_METHOD(run);
    sensitive << due_;
    dont_initialize();
}

void interrupts::completed(unsigned vector, direction way) {
    vector_state& state = vectors_[vector];
    const unsigned units = way == direction::receive ? state.receive_delay : state.transmit_delay;
    sc_time due = sc_core::sc_time_stamp();
    if (timing() == timing_mode::contended)
        due += sc_time(static_cast<double>(units) * delay_unit_us, sc_core::SC_US);
    state.due = state.due ? std::min(*state.due, due) : due;
    if (state.unmasked) schedule();
}

void interrupts::set(unsigned vector, unsigned receive_delay, unsigned transmit_delay,
                     bool unmask) {
    vector_state& state = vectors_[vector];
    state.receive_delay = receive_delay;
    state.transmit_delay = transmit_delay;
    state.unmasked = state.unmasked || unmask;
    if (state.unmasked && state.due) schedule();
}

void interrupts::forget() {
    vectors_.clear();
    due_.cancel();
}

void interrupts::schedule() {
    const sc_time now = sc_core::sc_time_stamp();
    std::optional<sc_time> first;
    for (const auto& [number, state] : vectors_)
        if (state.unmasked && state.due) first = first ? std::min(*first, *state.due) : *state.due;
    if (first) due_.notify(*first > now ? *first - now : sc_core::SC_ZERO_TIME);
}

void interrupts::run() {
    const sc_time now = sc_core::sc_time_stamp();
    for (auto& [number, state] : vectors_) {
        if (!state.unmasked || !state.due || *state.due > now) continue;
        state.due.reset();
        state.unmasked = false;
        raise_(number);
    }
    schedule();
}

}  // namespace trn::ena_queues

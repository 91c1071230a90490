// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/bridges/irq_signals.h"

#include <algorithm>

namespace trn {

using sc_core::sc_time;

signal_to_irq::signal_to_irq(const sc_core::sc_module_name& name, const sc_time& latency)
    : sc_module(name), latency_(latency) {
    SC_HAS_PROCESS(signal_to_irq);
    SC_METHOD(sample);  // once at the start too: the signal may be high
    sensitive << in;
}

irq_to_signal::irq_to_signal(const sc_core::sc_module_name& name, const sc_time& min_width)
    : sc_module(name),
      in("in", 1, [this](unsigned, bool level) { set_after(level, sc_core::SC_ZERO_TIME); }),
      min_width_(min_width) {
    SC_HAS_PROCESS(irq_to_signal);
    SC_METHOD(pass);
    sensitive << due_;
    dont_initialize();
}

void irq_to_signal::set_after(bool level, const sc_time& delay) {
    if (level == level_) return;
    level_ = level;
    const sc_time& now = sc_core::sc_time_stamp();
    const sc_time time = std::max(now + delay, next_);
    next_ = time + min_width_;
    edges_.push_back({time, level});
    if (edges_.size() == 1) due_.notify(time - now);
}

void irq_to_signal::pass() {
    const sc_time& now = sc_core::sc_time_stamp();
    if (!edges_.empty() && edges_.front().time <= now) {
        out.write(edges_.front().level);
        edges_.pop_front();
    }
    if (!edges_.empty()) due_.notify(edges_.front().time - now);
}

}  // namespace trn

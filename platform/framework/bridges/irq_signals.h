// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <systemc>

#include "platform/framework/tlm/irq.h"

namespace trn {

/// Drives an interrupt line of this project by a foreign model's signal, with its edges `latency`
/// later. Edges that are closer together than `latency` keep their distance.
class signal_to_irq : public sc_core::sc_module {
public:
    sc_core::sc_in<bool> in{"in"};
    irq_out out{"out"};

    explicit signal_to_irq(const sc_core::sc_module_name& name,
                           const sc_core::sc_time& latency = sc_core::SC_ZERO_TIME);

private:
    void sample() { out.set(in.read(), latency_); }

    const sc_core::sc_time latency_;
};

/// Drives a signal of a foreign model by an interrupt line of this project. A line may rise and
/// fall at once, which a signal cannot show: each level lasts at least `min_width`.
class irq_to_signal : public sc_core::sc_module {
public:
    irq_in in;
    sc_core::sc_out<bool> out{"out"};

    explicit irq_to_signal(const sc_core::sc_module_name& name,
                           const sc_core::sc_time& min_width = {1, sc_core::SC_NS});

    /// Sets the level after `delay`: for a model whose access raises the line at its annotated
    /// time. Not for use with a line that is bound to `in`. Edges of calls are in the order of the
    /// calls.
    void set_after(bool level, const sc_core::sc_time& delay);

private:
    struct edge {
        sc_core::sc_time time;
        bool level;
    };
    void pass();

    const sc_core::sc_time min_width_;
    bool level_ = false;      // after the last edge
    sc_core::sc_time next_;   // earliest time of the next edge
    std::deque<edge> edges_;  // ascending
    sc_core::sc_event due_{"due"};
};

}  // namespace trn

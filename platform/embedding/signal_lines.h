// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <systemc>

#include "platform/framework/bridges/irq_signals.h"
#include "platform/framework/tlm/irq.h"

namespace trn {

/// An input line of a board module as a port for a signal. Unbound, the line is low.
class signal_input final : public sc_core::sc_module {
public:
    sc_core::sc_port<sc_core::sc_signal_in_if<bool>, 1, sc_core::SC_ZERO_OR_MORE_BOUND> in{"in"};

    signal_input(const sc_core::sc_module_name& name, irq_in& shown, unsigned line);

private:
    void sample();

    irq_out line_{"line"};
};

/// An output line of a board module as a port for a signal. A pulse lasts 1 ns.
class signal_output final : public sc_core::sc_module {
public:
    sc_core::sc_port<sc_core::sc_signal_inout_if<bool>, 1, sc_core::SC_ZERO_OR_MORE_BOUND> out{
        "out"};

    signal_output(const sc_core::sc_module_name& name, irq_out& shown);

private:
    void copy();

    irq_to_signal line_{"line"};
    sc_core::sc_signal<bool> level_{"level"};
};

}  // namespace trn

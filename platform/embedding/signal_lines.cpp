// SPDX-License-Identifier: Apache-2.0
#include "platform/embedding/signal_lines.h"

namespace trn {

signal_input::signal_input(const sc_core::sc_module_name& name, irq_in& shown, unsigned line)
    : sc_module(name) {
    line_.bind(shown, line);
    SC_HAS_PROCESS(signal_input);
    SC_METHOD(sample);  // once at the start too: the signal may be high
    sensitive << in;
}

void signal_input::sample() {
    if (in.size() != 0) line_.set(in->read());
}

signal_output::signal_output(const sc_core::sc_module_name& name, irq_out& shown)
    : sc_module(name) {
    shown.bind(line_.in);
    line_.out.bind(level_);
    SC_HAS_PROCESS(signal_output);
    SC_METHOD(copy);
    sensitive << level_;
}

void signal_output::copy() {
    if (out.size() != 0) out->write(level_.read());
}

}  // namespace trn

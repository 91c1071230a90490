// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <systemc>

#include "platform/framework/tlm/irq.h"

namespace trn {

/// Holds a hart in reset until simulated time `at`.
class delayed_start : public sc_core::sc_module {
public:
    irq_out reset{"reset"};

    delayed_start(sc_core::sc_module_name name, irq_in& hart_reset,
                  const sc_core::sc_time& start_time)
        : sc_module(name), start_time_(start_time) {
        reset.bind(hart_reset);
        reset.set(true);
        SC_HAS_PROCESS(delayed_start);
        SC_METHOD(start);
        sensitive << due_;
        dont_initialize();
    }

private:
    void start_of_simulation() override { due_.notify(start_time_); }
    void start() { reset.set(false); }

    const sc_core::sc_time start_time_;
    sc_core::sc_event due_{"due"};
};

}  // namespace trn

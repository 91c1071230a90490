// SPDX-License-Identifier: Apache-2.0
#include "models/cards/ena/queues/work_loop.h"

namespace trn::ena_queues {

work_loop::work_loop(sc_core::sc_module_name name, tlm::tlm_initiator_socket<64>& bus)
    : sc_module(name), memory_(bus) {
    SC_METHOD(run);
    sensitive << work_;
    dont_initialize();
}

void work_loop::run() {
    for (;;) {
        switch (advance()) {
        case progress::moved:
            break;
        case progress::idle:
        case progress::blocked:
            return;
        case progress::waiting:
            return next_trigger(next_due() - sc_core::sc_time_stamp(), work_);
        }
    }
}

void work_loop::stop() {
    abandon_access();
    work_.cancel();
}

}  // namespace trn::ena_queues

// SPDX-License-Identifier: Apache-2.0
#include "models/soc/notification_queue/notifying_module.h"

namespace trn {

notifying_module::notifying_module(sc_core::sc_module_name name,
                                   const sc_core::sc_time& register_latency)
    : sc_module(name), notifications_(*this, posted_, register_latency) {
    memory.register_invalidate_direct_mem_ptr(this, &notifying_module::invalidate_windows);
    notifications_.on_posted([this] { posted_.notify(notification_queue::post_latency()); });
    SC_METHOD(deliver);
    sensitive << posted_;
    dont_initialize();
}

bool notifying_module::notify(unsigned slot, const notification& entry) {
    if (!notifications_.post(slot, entry)) return false;
    posted_.notify(sc_core::SC_ZERO_TIME);
    return true;
}

void notifying_module::deliver() {
    notifications_.deliver(memory_port_);
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#include "models/notification_queue/notifying_module.h"

namespace trn {

notifying_module::notifying_module(sc_core::sc_module_name name,
                                   const sc_core::sc_time& register_latency)
    : sc_module(name), notifications_(*this, register_latency) {
    memory.register_invalidate_direct_mem_ptr(this, &notifying_module::invalidate_windows);
    notifications_.on_posted([this] { posted_.notify(notification_queue::post_latency); });
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
    // The memory has deferred its response: later entries wait for it.
    if (sc_core::sc_event* ready = notifications_.deliver(memory_port_)) next_trigger(*ready);
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <systemc>
#include <tlm>

#include "models/soc/notification_queue/notification_queue.h"
#include "platform/framework/tlm/memory_port.h"

namespace trn {

/// Base of blocks with their own notification queues (NeuronCores, TOP_SPs): the socket and the
/// process that write entries. A DMA group writes its entries itself.
class notifying_module : public sc_core::sc_module {
public:
    tlm_utils::simple_initiator_socket<notifying_module, 64> memory{"memory"};

    /// Queues an entry for the ring of `slot`; returns false when the slot is disabled.
    bool notify(unsigned slot, const notification& entry);

protected:
    SC_HAS_PROCESS(notifying_module);
    notifying_module(sc_core::sc_module_name name, const sc_core::sc_time& register_latency);

    notification_queue notifications_;
    memory_port memory_port_{memory};  ///< for entries, and other accesses of the block

    /// The process that writes entries.
    virtual void deliver();

private:
    void invalidate_windows(sc_dt::uint64 first, sc_dt::uint64 last) {
        memory_port_.invalidate(first, last);
    }

    sc_core::sc_event posted_{"posted"};
};

}  // namespace trn

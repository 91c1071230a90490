// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <systemc>
#include <tlm>

#include "models/notification_queue/notification_queue.h"
#include "platform/framework/tlm/memory_port.h"

namespace trn {

/// A block with its own notification queues: the socket that writes entries, and the process
/// that writes them. NeuronCores and TOP_SPs are such blocks; a DMA group writes its entries
/// itself.
class notifying_module : public sc_core::sc_module {
public:
    tlm_utils::simple_initiator_socket<notifying_module, 64> memory{"memory"};

    /// Puts an entry into the ring of `slot`; false when the slot is off.
    bool notify(unsigned slot, const notification& entry);

protected:
    SC_HAS_PROCESS(notifying_module);
    notifying_module(sc_core::sc_module_name name, const sc_core::sc_time& register_latency);

    notification_queue notifications_;
    memory_port memory_port_{memory};  ///< of entries, and of what else the block accesses

    /// The process: writes entries.
    virtual void deliver();

private:
    void invalidate_windows(sc_dt::uint64 first, sc_dt::uint64 last) {
        memory_port_.invalidate(first, last);
    }

    sc_core::sc_event posted_{"posted"};
};

}  // namespace trn

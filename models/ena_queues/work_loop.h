// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <systemc>
#include <tlm>

#include "platform/framework/tlm/deferral.h"
#include "platform/framework/tlm/memory_port.h"

namespace trn::ena_queues {

/// A part of the card that works in steps on the driver's memory. State decides what the next step
/// is; an event only wakes.
class work_loop : public sc_core::sc_module {
public:
    void invalidate(std::uint64_t first, std::uint64_t last) { memory_.invalidate(first, last); }

protected:
    enum class progress {
        idle,     ///< nothing to do
        moved,    ///< there may be more to do
        blocked,  ///< by an access that memory has deferred
        waiting,  ///< until next_due()
    };

    SC_HAS_PROCESS(work_loop);
    /// `bus` leads to the driver's memory and belongs to the card.
    work_loop(sc_core::sc_module_name name, tlm::tlm_initiator_socket<64>& bus);

    /// One step.
    virtual progress advance() = 0;
    /// When the next step is due (absolute).
    virtual sc_core::sc_time next_due() const = 0;

    /// One access of at most 4 KiB. `delay` grows by its time.
    memory_port::outcome access(tlm::tlm_command command, std::uint64_t address, void* bytes,
                                unsigned length, sc_core::sc_time& delay) {
        return memory_.access(command, address, bytes, length, later_, delay);
    }
    void wake() { work_.notify(sc_core::SC_ZERO_TIME); }
    /// Gives up a deferred access; its answer has no effect.
    void abandon_access() { later_.abandon(); }
    /// Likewise, and nothing is due.
    void stop();

private:
    void run();

    memory_port memory_;
    deferral later_;
    sc_core::sc_event work_;
};

}  // namespace trn::ena_queues

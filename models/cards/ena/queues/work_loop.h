// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <systemc>
#include <tlm>

#include "platform/framework/tlm/memory_port.h"
#include "platform/framework/tlm/pending_access.h"

namespace trn::ena_queues {

/// Part of the card that processes data in the driver's memory step by step. The state selects each
/// step; events only wake it.
class work_loop : public sc_core::sc_module {
public:
    void invalidate(std::uint64_t first, std::uint64_t last) { memory_.invalidate(first, last); }

protected:
    enum class progress {
        idle,     ///< no work
        moved,    ///< progress was made; call again
        blocked,  ///< memory has deferred an access
        waiting,  ///< nothing to do before next_due()
    };

    SC_HAS_PROCESS(work_loop);
    /// `bus` accesses the driver's memory; the card owns it.
    work_loop(sc_core::sc_module_name name, tlm::tlm_initiator_socket<64>& bus);

    /// Executes one step.
    virtual progress advance() = 0;
    /// Time of the next step (absolute). Precondition: advance() has returned `waiting`.
    virtual sc_core::sc_time next_due() const = 0;

    /// Makes one access of at most 4 KiB. Adds its time to `delay`.
    memory_port::outcome access(tlm::tlm_command command, std::uint64_t address, void* bytes,
                                unsigned length, sc_core::sc_time& delay) {
        return memory_.access(command, address, bytes, length, pending_, delay);
    }
    void wake() { work_.notify(sc_core::SC_ZERO_TIME); }
    /// Abandons a deferred access; its result is ignored.
    void abandon_access() { pending_.abandon(); }
    /// Abandons a deferred access, and cancels the pending wake-up.
    void stop();

private:
    void run();

    memory_port memory_;
    sc_core::sc_event work_;
    pending_access pending_{work_};
};

}  // namespace trn::ena_queues

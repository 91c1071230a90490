// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <systemc>
#include <tlm>

#include "platform/kernel/introspection.h"
#include "platform/registers/register_bank.h"
#include "platform/tlm/irq.h"

namespace trn {

/// The words that driver and firmware share, and the doorbell between them. Everything is RAM but
/// the trigger: while it is not zero, the management processor is interrupted. Both sides see the
/// same bytes. Spec: doc/models/misc_ram.md.
class misc_ram : public sc_core::sc_module, public reports_ready, public has_registers {
public:
    struct config {
        sc_core::sc_time access_latency{50, sc_core::SC_NS};
    };

    tlm_utils::simple_target_socket<misc_ram, 64> in{"in"};              ///< host and AXI
    tlm_utils::simple_target_socket<misc_ram, 64> firmware{"firmware"};  ///< management processor
    irq_out doorbell{"doorbell"};

    misc_ram(sc_core::sc_module_name name, const config& cfg);

    /// Power-on: the only thing that clears it (contract 5.3: election words survive a reset).
    void power_on();

    /// The firmware has published its routing id (contract 4).
    bool ready() const override;
    register_bank& registers() override { return regs_; }

private:
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
        regs_.access(payload, delay);
    }
    unsigned transport_dbg(tlm::tlm_generic_payload& payload) {
        return regs_.debug_access(payload);
    }

    register_bank regs_;
};

}  // namespace trn

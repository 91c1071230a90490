// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <systemc>
#include <tlm>

#include "platform/framework/kernel/introspection.h"
#include "platform/framework/registers/register_bank.h"
#include "platform/framework/tlm/irq.h"
#include "platform/framework/tlm/target_socket.h"

namespace trn {

/// The words and the doorbell that driver and firmware share. Everything is RAM but
/// the trigger: while it is not zero, it interrupts the management processor. Both sides see the
/// same bytes. Spec: doc/models/misc_ram.md.
class misc_ram : public sc_core::sc_module, public reports_ready {
public:
    struct config {
        sc_core::sc_time access_latency{50, sc_core::SC_NS};
    };

    target_socket<misc_ram> in{"in"};              ///< host and AXI
    target_socket<misc_ram> firmware{"firmware"};  ///< management processor
    irq_out doorbell{"doorbell"};
    /// High from a host's read of a sample (power, heartbeat) until firmware writes the next one:
    /// firmware need not take samples that no host reads.
    irq_out watched{"watched"};
    irq_out booting{"booting"};  ///< high until firmware publishes the routing id
    /// A rising line: the host has reset its function.
    irq_in function_reset{"function_reset", 1, [this](unsigned, bool level) {
                              if (level) stale.set(true);
                          }};
    /// High from a host's write to a firmware word, or a reset of the function, until
    /// firmware publishes the routing id, the last of its words.
    irq_out stale{"stale"};

    misc_ram(sc_core::sc_module_name name, const config& cfg);

    /// Power-on: the only thing that clears it (contract 5.3: election words survive a reset).
    void power_on();

    /// The firmware has published its routing id (contract 4).
    bool ready() const override;

private:
    void host_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    void firmware_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
        from_firmware_ = true;
        regs_.access(payload, delay);
        from_firmware_ = false;
    }
    unsigned transport_dbg(tlm::tlm_generic_payload& payload) {
        return regs_.debug_access(payload);
    }

    void start_of_simulation() override { booting.set(!ready()); }
    void define_registers();
    void note_request();
    void note_trigger(std::uint64_t value);

    register_bank regs_;
    bool from_firmware_ = false;
    bool request_written_ = false, request_open_ = false;
};

}  // namespace trn

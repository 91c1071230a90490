// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <systemc>
#include <tlm>

#include "platform/framework/kernel/introspection.h"
#include "platform/framework/kernel/watched_signals.h"
#include "platform/framework/registers/register_bank.h"
#include "platform/framework/tlm/irq.h"
#include "platform/framework/tlm/target_socket.h"

namespace trn {

/// The words and the doorbell that driver and firmware share. All words are RAM except the trigger,
/// which interrupts the management processor while it is not zero. Both sides access the same
/// bytes. Spec: doc/models/soc/misc_ram.md.
class misc_ram : public sc_core::sc_module, public reports_ready, public publishes_signals {
public:
    struct config {
        sc_core::sc_time access_latency{50, sc_core::SC_NS};
    };

    target_socket<misc_ram> in{"in"};              ///< from host and AXI
    target_socket<misc_ram> firmware{"firmware"};  ///< from the management processor
    irq_out doorbell{"doorbell"};
    /// Rises when the host reads a sample (power, heartbeat), falls when firmware writes the next
    /// one: firmware need not take samples that the host does not read.
    irq_out watched{"watched"};
    irq_out booting{"booting"};  ///< high until firmware publishes the routing id
    /// A rising edge: the host has reset its function.
    irq_in function_reset{"function_reset", 1, [this](unsigned, bool level) {
                              if (level) stale.set(true);
                          }};
    /// Rising: clears all words; resets do not (contract 5.3: election words survive a reset).
    irq_in power_lost{"power_lost", 1, [this](unsigned, bool level) {
                          if (level) forget();
                      }};
    /// Rises when the host writes a firmware word or resets its function; falls when firmware has
    /// written the routing id, the last of its words.
    irq_out stale{"stale"};

    misc_ram(sc_core::sc_module_name name, const config& cfg);

    /// Whether firmware has published its routing id (contract 4).
    bool ready() const override;
    void publish_signals(signal_list& out) const override {
        out.state("mailbox", {"idle", "open"}, [this] { return request_open_; });
    }

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
    void forget();
    void note_request();
    void note_trigger(std::uint64_t value);

    register_bank regs_;
    bool from_firmware_ = false;
    bool request_written_ = false, request_open_ = false;
};

}  // namespace trn

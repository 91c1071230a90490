// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <systemc>
#include <tlm>

#include "platform/framework/registers/register_bank.h"
#include "platform/framework/tlm/irq.h"

namespace trn {

/// The reset word of the simulator revisions (contract 2): the host writes a reset map and polls
/// for zero; firmware performs the reset and says when it is done (decision 5). A map of 0 means
/// the whole chip, so the host reads `whole_chip` until that is done. Spec: doc/models/misc_ram.md.
class sim_reset : public sc_core::sc_module {
public:
    struct config {
        sc_core::sc_time access_latency{50, sc_core::SC_NS};
    };
    static constexpr std::uint32_t whole_chip =
        0x8000'0000;  ///< not all ones: contract 18, pitfall 16

    tlm_utils::simple_target_socket<sim_reset, 64> host{"host"};
    tlm_utils::simple_target_socket<sim_reset, 64> firmware{"firmware"};
    irq_out request{"request"};  ///< high while the host waits

    sim_reset(sc_core::sc_module_name name, const config& cfg);

private:
    void host_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
        host_.access(payload, delay);
    }
    unsigned host_debug(tlm::tlm_generic_payload& payload) { return host_.debug_access(payload); }
    void firmware_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
        firmware_.access(payload, delay);
    }
    unsigned firmware_debug(tlm::tlm_generic_payload& payload) {
        return firmware_.debug_access(payload);
    }
    void set_pending(bool pending);

    register_bank host_, firmware_;
};

}  // namespace trn

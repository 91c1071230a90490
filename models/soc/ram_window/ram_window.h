// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <systemc>
#include <tlm>

#include "platform/framework/tlm/target_socket.h"

namespace trn {

/// A part of the HBM that a processor uses as its RAM. The processor gets a pointer to all of it
/// and writes unobserved, so all of it counts as written from then on (rule
/// dma_from_unwritten_hbm).
class ram_window : public sc_core::sc_module {
public:
    struct config {
        std::uint64_t size = std::uint64_t{2} << 30;  ///< bytes
        std::uint64_t base = 0;                       ///< address behind `out` of the first byte
    };

    target_socket<ram_window> in{"in"};
    tlm_utils::simple_initiator_socket<ram_window, 64> out{"out"};

    ram_window(sc_core::sc_module_name name, const config& cfg);

    const config& settings() const { return cfg_; }

private:
    bool enter(tlm::tlm_generic_payload& payload) const;
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    unsigned transport_dbg(tlm::tlm_generic_payload& payload);
    bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi);
    void invalidate(sc_dt::uint64 first, sc_dt::uint64 last);

    const config cfg_;
};

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <systemc>
#include <tlm>

#include "platform/framework/registers/register_bank.h"

namespace trn {

/// The error blocks of a SENG's DMA engines. The driver sets two bits in each; nothing more is
/// known. Spec: doc/models/fis.md.
class fis : public sc_core::sc_module {
public:
    struct config {
        unsigned engines = 32;
        std::uint64_t stride = 0x20000;  ///< bytes from block to block
        sc_core::sc_time register_latency{50, sc_core::SC_NS};
    };

    tlm_utils::simple_target_socket<fis, 64> registers{"registers"};

    fis(sc_core::sc_module_name name, const config& cfg);

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

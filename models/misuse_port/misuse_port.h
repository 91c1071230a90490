// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <systemc>
#include <tlm>

#include "platform/framework/registers/register_bank.h"

namespace trn {

/// Firmware reports mistakes of software that only it can see, such as a wrong CRC; the report
/// carries the function and line of the firmware that noticed. Spec: doc/models/misuse_port.md.
class misuse_port : public sc_core::sc_module {
public:
    struct config {};

    tlm_utils::simple_target_socket<misuse_port, 64> in{"in"};

    misuse_port(sc_core::sc_module_name name, const config& cfg);

private:
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
        regs_.access(payload, delay);
    }
    unsigned transport_dbg(tlm::tlm_generic_payload& payload) {
        return regs_.debug_access(payload);
    }
    void report(std::uint64_t number);

    register_bank regs_;
};

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <systemc>
#include <tlm>

#include "platform/framework/registers/register_bank.h"

namespace trn {

/// A target socket whose accesses, debug accesses included, all go to one register bank. The bank
/// may be constructed after the socket; both live as long as their module.
class register_socket : public tlm_utils::simple_target_socket<register_socket, 64> {
public:
    register_socket(const char* name, register_bank& bank)
        : simple_target_socket(name), bank_(bank) {
        register_b_transport(this, &register_socket::access);
        register_transport_dbg(this, &register_socket::debug_access);
    }

private:
    void access(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
        bank_.access(payload, delay);
    }
    unsigned debug_access(tlm::tlm_generic_payload& payload) { return bank_.debug_access(payload); }

    register_bank& bank_;
};

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <systemc>
#include <tlm>

#include "platform/framework/registers/register_bank.h"
#include "platform/framework/tlm/blocking_transport.h"

namespace trn {

/// A register bank as a TLM target.
class bank_target : public blocking_transport {
public:
    explicit bank_target(register_bank& bank) : bank_(bank) {}

    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override {
        bank_.access(payload, delay);
    }
    unsigned transport_dbg(tlm::tlm_generic_payload& payload) final {
        return bank_.debug_access(payload);
    }

private:
    register_bank& bank_;
};

/// A target socket that forwards all accesses, including debug accesses, to one register bank. The
/// bank may be constructed after the socket; both must live as long as their module.
using register_socket = implemented_socket<bank_target>;

}  // namespace trn

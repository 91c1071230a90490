// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <systemc>
#include <tlm>

#include "platform/framework/tlm/protocol_checks.h"

namespace trn {

/// A target socket whose calls are checked in both directions, if checking is on when it is
/// constructed (base_protocol.h).
template <unsigned Width = 64, int Bindings = 1,
          sc_core::sc_port_policy Policy = sc_core::SC_ONE_OR_MORE_BOUND>
class checked_target_socket
    : public tlm::tlm_target_socket<Width, tlm::tlm_base_protocol_types, Bindings, Policy> {
    using base = tlm::tlm_target_socket<Width, tlm::tlm_base_protocol_types, Bindings, Policy>;

public:
    explicit checked_target_socket(const char* name, protocol rules = protocol::restricted)
        : base(name), checks_(*this, rules) {}

    using base::bind;
    void bind(tlm::tlm_fw_transport_if<>& target) override { base::bind(*checks_.around(&target)); }

    tlm::tlm_bw_transport_if<>* operator->() { return checks_.around(base::operator->()); }
    tlm::tlm_bw_transport_if<>* operator[](int index) {
        return checks_.around(base::operator[](index));
    }

private:
    const protocol_checks checks_;
};

/// An initiator socket with such checks, for a target whose socket has none: a foreign model.
template <unsigned Width = 64, sc_core::sc_port_policy Policy = sc_core::SC_ONE_OR_MORE_BOUND>
class checked_initiator_socket
    : public tlm::tlm_initiator_socket<Width, tlm::tlm_base_protocol_types, 1, Policy> {
    using base = tlm::tlm_initiator_socket<Width, tlm::tlm_base_protocol_types, 1, Policy>;

public:
    explicit checked_initiator_socket(const char* name, protocol rules = protocol::base)
        : base(name), checks_(*this, rules) {}

    using base::bind;
    void bind(tlm::tlm_bw_transport_if<>& initiator) override {
        base::bind(*checks_.around(&initiator));
    }

    tlm::tlm_fw_transport_if<>* operator->() { return checks_.around(base::operator->()); }

private:
    const protocol_checks checks_;
};

}  // namespace trn

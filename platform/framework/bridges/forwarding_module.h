// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <systemc>
#include <tlm>

#include "platform/framework/bridges/reports.h"
#include "platform/framework/tlm/checked_sockets.h"

namespace trn {

/// Base of modules between an initiator and a target: debug transport and DMI pass unchanged, and
/// so do invalidations on the way back. A null pointer, or one to other addresses than that of the
/// request, is refused. `InWidth`, `OutWidth`: bits of the sockets; `Initiators`: how many may bind
/// `in`, 0 for any number; `InPolicy`, `OutPolicy`: whether a socket may be unbound.
template <unsigned InWidth, unsigned OutWidth, int Initiators,
          sc_core::sc_port_policy InPolicy = sc_core::SC_ONE_OR_MORE_BOUND,
          sc_core::sc_port_policy OutPolicy = sc_core::SC_ONE_OR_MORE_BOUND>
class forwarding_module : public sc_core::sc_module,
                          protected tlm::tlm_fw_transport_if<>,
                          protected tlm::tlm_bw_transport_if<> {
public:
    checked_target_socket<InWidth, Initiators, InPolicy> in;
    checked_initiator_socket<OutWidth, OutPolicy> out;

protected:
    /// The rules of the models at both sides.
    forwarding_module(const sc_core::sc_module_name& name, protocol in_rules, protocol out_rules)
        : sc_module(name), in("in", in_rules), out("out", out_rules) {
        in.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
        out.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
    }
    /// A foreign target may set the response, which has no meaning here (11.3.4).
    unsigned transport_dbg(tlm::tlm_generic_payload& payload) override {
        const tlm::tlm_response_status before = payload.get_response_status();
        const unsigned count = out->transport_dbg(payload);
        if (payload.get_gp_option() == tlm::TLM_MIN_PAYLOAD) payload.set_response_status(before);
        return count;
    }
    bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) override {
        const sc_dt::uint64 address = payload.get_address();
        const bool granted = out->get_direct_mem_ptr(payload, dmi);
        if (!granted || (dmi.get_dmi_ptr() != nullptr && dmi.get_start_address() <= address &&
                         address <= dmi.get_end_address()))
            return granted;
        bridge_report::wrong_pointer(*this, payload, dmi);
        dmi.init();
        dmi.allow_read_write();
        dmi.set_start_address(address);
        dmi.set_end_address(address);
        return false;
    }
    void invalidate_direct_mem_ptr(sc_dt::uint64 first, sc_dt::uint64 last) override {
        for (int i = 0; i < in.size(); ++i) in[i]->invalidate_direct_mem_ptr(first, last);
    }
};

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <systemc>
#include <tlm>

#include "platform/framework/tlm/checked_sockets.h"

namespace trn {

/// Checks the calls between two foreign models, whose sockets check nothing: bind the initiator to
/// `in`, and `out` to the target. Passes all calls unchanged; only passes them if checking is off
/// (base_protocol::set_policy()).
template <unsigned Width = 32>
class protocol_monitor final : public sc_core::sc_module,
                               private tlm::tlm_fw_transport_if<>,
                               private tlm::tlm_bw_transport_if<> {
    using payload = tlm::tlm_generic_payload;

public:
    checked_target_socket<Width> in;
    tlm::tlm_initiator_socket<Width> out{"out"};

    explicit protocol_monitor(const sc_core::sc_module_name& name, protocol rules = protocol::base)
        : sc_module(name), in("in", rules) {
        in.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
        out.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
    }

private:
    void b_transport(payload& request, sc_core::sc_time& delay) override {
        out->b_transport(request, delay);
    }
    tlm::tlm_sync_enum nb_transport_fw(payload& request, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override {
        return out->nb_transport_fw(request, phase, delay);
    }
    unsigned transport_dbg(payload& request) override { return out->transport_dbg(request); }
    bool get_direct_mem_ptr(payload& request, tlm::tlm_dmi& dmi) override {
        return out->get_direct_mem_ptr(request, dmi);
    }
    tlm::tlm_sync_enum nb_transport_bw(payload& response, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override {
        return in->nb_transport_bw(response, phase, delay);
    }
    void invalidate_direct_mem_ptr(sc_dt::uint64 first, sc_dt::uint64 last) override {
        in->invalidate_direct_mem_ptr(first, last);
    }
};

}  // namespace trn

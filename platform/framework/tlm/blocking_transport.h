// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <systemc>
#include <tlm>
#include <utility>

#include "platform/framework/tlm/checked_sockets.h"

namespace trn {

/// Base of targets that implement only b_transport. By default, debug accesses transfer no bytes
/// and DMI is refused. Non-blocking transport completes each request at once; an initiator that
/// needs the other phases, or targets that defer accesses, binds through an initiator_bridge.
class blocking_transport : public tlm::tlm_fw_transport_if<> {
public:
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) final {
        if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;  // an ignorable phase
        b_transport(payload, delay);
        return tlm::TLM_COMPLETED;
    }
    unsigned transport_dbg(tlm::tlm_generic_payload&) override { return 0; }
    bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi& dmi) override {
        dmi.allow_read_write();  // the refusal covers reads and writes
        dmi.set_start_address(0);
        dmi.set_end_address(~sc_dt::uint64{0});
        return false;
    }
};

/// A target socket with its implementation, which is constructed from the arguments.
template <class Implementation, sc_core::sc_port_policy Policy = sc_core::SC_ONE_OR_MORE_BOUND>
class implemented_socket : public checked_target_socket<64, 1, Policy> {
    using base = checked_target_socket<64, 1, Policy>;

public:
    template <class... Arguments>
    explicit implemented_socket(const char* name, Arguments&&... arguments)
        : base(name), implementation_(std::forward<Arguments>(arguments)...) {
        base::bind(implementation_);
    }
    using base::bind;

protected:
    Implementation implementation_;
};

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <systemc>
#include <tlm>

#include "platform/framework/bridges/forwarding_module.h"
#include "platform/framework/bridges/phased_requests.h"
#include "platform/framework/bridges/thread_waits.h"

namespace trn {

/// Joins a foreign initiator to a router or target of this project, which may defer accesses: its
/// b_transport waits in the caller's thread, and its nb_transport_fw follows the four phases. Costs
/// a target that does not defer one call.
class initiator_bridge final : public forwarding_module<64, 64, 1> {
public:
    explicit initiator_bridge(const sc_core::sc_module_name& name);

private:
    void end_of_elaboration() override;
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    void serve();

    sc_core::sc_event work_{"work"};
    thread_waits threads_{*this};
    phased_requests requests_{*this, work_};
    tlm::tlm_fw_transport_if<>* target_ = nullptr;
    tlm::tlm_bw_transport_if<>* initiator_ = nullptr;
};

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <systemc>
#include <tlm>
#include <utility>

#include "platform/framework/bridges/forwarding_module.h"
#include "platform/framework/bridges/phased_requests.h"
#include "platform/framework/bridges/thread_waits.h"
#include "platform/framework/misuse/initiator.h"

namespace trn {

/// A foreign initiator, as reports name it: by its socket or module.
class foreign_initiator final : public initiator {
public:
    explicit foreign_initiator(kind source) : initiator(source) {}
    void set_name(std::string name) { name_ = std::move(name); }
    bool has_name() const { return !name_.empty(); }
    std::string describe() const override { return name_; }

private:
    std::string name_;
};

/// Joins a foreign initiator to a router or target of this project, which may defer accesses: its
/// b_transport waits in the caller's thread, and its nb_transport_fw follows the four phases. Costs
/// a target that does not defer one call. Without an initiator it is idle. Reports name the
/// initiator that the payload's attribution says, or else the foreign one.
class initiator_bridge final : public forwarding_module<64, 64, 1, sc_core::SC_ZERO_OR_MORE_BOUND> {
public:
    /// `kind`: of the foreign initiator's accesses, in counts and for misuse rules.
    explicit initiator_bridge(const sc_core::sc_module_name& name,
                              initiator::kind kind = initiator::kind::firmware);

    /// Name of the foreign initiator, by default that of the module whose process makes the first
    /// access.
    void name_initiator(std::string name) { caller_.set_name(std::move(name)); }

private:
    void end_of_elaboration() override;
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    unsigned transport_dbg(tlm::tlm_generic_payload& payload) override;
    bool has_data(const tlm::tlm_generic_payload& payload) const;
    void serve();
    void name_caller();

    foreign_initiator caller_;
    sc_core::sc_event work_{"work"};
    thread_waits threads_{*this};
    phased_requests requests_{*this, work_};
    tlm::tlm_fw_transport_if<>* target_ = nullptr;
    tlm::tlm_bw_transport_if<>* initiator_ = nullptr;
};

}  // namespace trn

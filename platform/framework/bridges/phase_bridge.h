// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <systemc>
#include <tlm>

#include "platform/framework/bridges/deferred_calls.h"
#include "platform/framework/bridges/forwarding_module.h"
#include "platform/framework/kernel/introspection.h"

namespace trn {

/// Joins initiators of this project to a foreign target with non-blocking transport (approximately
/// timed): sends BEGIN_REQ, follows the phases of the base protocol, also when the target leaves
/// some out (TLM_UPDATED, TLM_COMPLETED), and defers the initiators' accesses until the response.
/// Ignores extended phases; reports others that are out of place, and goes on waiting.
/// One request at a time until END_REQ; any number that wait for responses. Has no process that
/// runs while it is idle.
class phase_bridge final : public forwarding_module<64, 64, 0>, public describes_wait {
public:
    explicit phase_bridge(const sc_core::sc_module_name& name);

    /// Number of accesses that are deferred, or whose initiator has abandoned them.
    std::size_t open() const { return calls_.open(); }
    std::optional<std::string> describe_wait() const override { return calls_.describe_wait(); }

private:
    using call = deferred_calls::call;

    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    void send_requests();
    void send(call& next);
    void end_request(const call& sent, const sc_core::sc_time& delay);

    deferred_calls calls_{*this};
    std::deque<call*> requests_;  // not sent
    call* sent_ = nullptr;        // between BEGIN_REQ and END_REQ
    sc_core::sc_time free_at_;    // when the next request may be sent
    sc_core::sc_event free_{"free"};
};

}  // namespace trn

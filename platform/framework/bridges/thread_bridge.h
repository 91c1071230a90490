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

/// Joins initiators of this project to a foreign target whose b_transport may wait: calls it in a
/// thread of its own, one access after the other, while the initiators' accesses are deferred. An
/// initiator gets data, response, DMI hint and the rest of the annotated delay when it repeats its
/// access. The access of an initiator that was reset ends in the thread; its response is dropped.
/// The thread is created at the first access.
///
/// At the boundary of a board module `out` may be unbound: accesses get TLM_ADDRESS_ERROR_RESPONSE.
/// And accesses other than reads whose initiator cannot wait are posted there: TLM_OK_RESPONSE at
/// once, and the target's response is dropped.
class thread_bridge final : public forwarding_module<64, 64, 0, sc_core::SC_ONE_OR_MORE_BOUND,
                                                     sc_core::SC_ZERO_OR_MORE_BOUND>,
                            public describes_wait {
public:
    enum class use { bridge, boundary };

    explicit thread_bridge(const sc_core::sc_module_name& name, use purpose = use::bridge);

    /// Number of accesses that are deferred, or whose initiator has abandoned them.
    std::size_t open() const { return calls_.open(); }
    std::optional<std::string> describe_wait() const override { return calls_.describe_wait(); }

private:
    void end_of_elaboration() override;
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
    tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& delay) override;
    unsigned transport_dbg(tlm::tlm_generic_payload& payload) override;
    bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) override;
    deferred_calls::call* enter(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    void launch();
    void serve();

    const use use_;
    deferred_calls calls_{*this};
    std::deque<deferred_calls::call*> requests_;
    sc_core::sc_event first_request_{"first_request"}, request_{"request"};
    bool has_thread_ = false;
};

}  // namespace trn

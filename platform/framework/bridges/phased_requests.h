// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <list>
#include <systemc>
#include <tlm>

#include "platform/framework/misuse/initiator.h"
#include "platform/framework/tlm/pending_access.h"

namespace trn {

/// Requests of a foreign initiator with non-blocking transport: executes each by b_transport of a
/// target of this project at its time, and returns the response as a phase of its own. Follows the
/// exclusion rules of the base protocol, and refers to payloads by acquire() and release().
class phased_requests {
public:
    static constexpr unsigned max_taken = 8;  ///< later requests get END_REQ when one has ended

    /// `owner`: the bridge, for reports. `work`: event of the process that calls serve().
    phased_requests(const sc_core::sc_module& owner, sc_core::sc_event& work)
        : owner_(owner), work_(work) {}

    /// The initiator's nb_transport_fw.
    tlm::tlm_sync_enum receive(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                               const sc_core::sc_time& delay);
    /// Executes requests and sends responses that are due.
    /// `caller`: whose requests they are without an attribution.
    void serve(tlm::tlm_blocking_transport_if<>& target, tlm::tlm_bw_transport_if<>& initiator,
               const trn::initiator& caller);

private:
    enum class state {
        requested,
        answered,    ///< the response is sent at `due`
        responding,  ///< BEGIN_RESP is sent
        ended,
    };
    struct request {
        request(tlm::tlm_generic_payload& requested, const sc_core::sc_time& begin,
                sc_core::sc_event& wake)
            : payload(requested), due(begin), access(wake) {}

        tlm::tlm_generic_payload& payload;
        sc_core::sc_time due;  ///< when it begins, or the response is valid (absolute)
        pending_access access;
        state progress = state::requested;
        bool is_taken = false;  ///< END_REQ is sent
    };

    static void execute(request& next, tlm::tlm_blocking_transport_if<>& target,
                        const trn::initiator& caller);
    void respond(request& next, tlm::tlm_bw_transport_if<>& initiator);
    void end(request& done, const sc_core::sc_time& delay);
    void schedule() const;

    const sc_core::sc_module& owner_;
    sc_core::sc_event& work_;
    std::list<request> requests_;        // in the order of BEGIN_REQ
    request* responding_ = nullptr;      // between BEGIN_RESP and END_RESP
    sc_core::sc_time response_free_at_;  // when the next response may begin
};

}  // namespace trn

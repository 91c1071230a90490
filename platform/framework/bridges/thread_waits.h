// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include "platform/framework/misuse/initiator.h"
#include "platform/framework/tlm/pending_access.h"

namespace trn {

/// Accesses of foreign threads to targets of this project: when the target defers an access, the
/// calling thread waits and repeats it. Any number of threads.
class thread_waits {
public:
    /// `owner`: the bridge, for reports.
    explicit thread_waits(const sc_core::sc_module& owner) : owner_(owner) {}

    /// Calls b_transport of `target` until the access has a response. The annotated delay shrinks
    /// by the time that the caller waited. TLM_GENERIC_ERROR_RESPONSE if the target defers the
    /// access of a method. `caller`: whose access it is without an attribution.
    void transport(tlm::tlm_blocking_transport_if<>& target, tlm::tlm_generic_payload& payload,
                   sc_core::sc_time& delay, const initiator& caller);

private:
    struct place {
        sc_core::sc_event woken{sc_core::sc_gen_unique_name("woken")};
        pending_access access{woken};
    };
    class use;

    const sc_core::sc_module& owner_;
    std::vector<std::unique_ptr<place>> idle_;  // one for each thread that was inside at a time
};

}  // namespace trn

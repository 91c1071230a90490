// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "platform/framework/tlm/plug.h"

namespace trn {

/// A payload without extensions. Allocating one is slow, so payloads are reused; several exist if a
/// packet triggers another.
class carrier_payload {
public:
    carrier_payload() : used_(take()) {}
    ~carrier_payload() { idle().push_back(std::move(used_)); }
    carrier_payload(const carrier_payload&) = delete;
    carrier_payload& operator=(const carrier_payload&) = delete;

    tlm::tlm_generic_payload* operator->() { return used_.get(); }
    tlm::tlm_generic_payload& operator*() { return *used_; }

private:
    using payload = std::unique_ptr<tlm::tlm_generic_payload>;

    static std::vector<payload>& idle() {
        static std::vector<payload> all;
        return all;
    }
    static payload take() {
        if (idle().empty()) return std::make_unique<tlm::tlm_generic_payload>();
        payload last = std::move(idle().back());
        idle().pop_back();
        last->set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
        return last;
    }

    payload used_;
};

/// Sends a payload whose only content is the extension `carrier`, which the receiver takes over.
/// `delay`: time until it arrives at the peer of `from`. Returns the peer's response.
template <class Carrier>
tlm::tlm_response_status send_carried(plug& from, Carrier carrier,
                                      sc_core::sc_time delay = sc_core::SC_ZERO_TIME) {
    carrier_payload payload;
    payload->set_extension(&carrier);
    from.send(*payload, delay);
    payload->clear_extension(&carrier);
    return payload->get_response_status();
}

}  // namespace trn

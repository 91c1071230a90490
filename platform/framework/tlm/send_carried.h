// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "platform/framework/tlm/plug.h"
#include "platform/framework/tlm/set_access.h"

namespace trn {

/// Payload extension that carries content between plugs; the receiver takes ownership of it.
template <class Content>
struct carrier_of : tlm::tlm_extension<carrier_of<Content>> {
    std::unique_ptr<Content> carried;

    explicit carrier_of(std::unique_ptr<Content> content) : carried(std::move(content)) {}
    tlm::tlm_extension_base* clone() const override { return nullptr; }
    void copy_from(const tlm::tlm_extension_base&) override {}
};

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
        if (idle().empty()) {
            auto added = std::make_unique<tlm::tlm_generic_payload>();
            set_message(*added);
            return added;
        }
        payload last = std::move(idle().back());
        idle().pop_back();
        last->set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
        return last;
    }

    payload used_;
};

/// Sends a payload whose only content is the extension `carrier`, which the receiver takes over.
/// `delay`: time until it arrives at the peer of `sender`. Returns the peer's response.
template <class Carrier>
tlm::tlm_response_status send_carried(plug& sender, Carrier carrier,
                                      sc_core::sc_time delay = sc_core::SC_ZERO_TIME) {
    carrier_payload payload;
    payload->set_extension(&carrier);
    sender.send(*payload, delay);
    payload->clear_extension(&carrier);
    return payload->get_response_status();
}

}  // namespace trn

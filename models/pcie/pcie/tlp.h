// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <systemc>
#include <tlm>

#include "platform/framework/tlm/pending_access.h"
#include "platform/framework/tlm/plug.h"
#include "platform/framework/tlm/set_access.h"

namespace trn::pcie {

/// Error messages (2.2.8.3); the address of a tlp::space::error request.
enum class error_class : std::uint8_t { nonfatal, fatal, correctable };

/// Bus, device and function as in a TLP header (2.2.4.2): bus << 8
/// device << 3
/// function.
using function_id = std::uint16_t;

constexpr std::uint8_t bus_of(function_id id) {
    return static_cast<std::uint8_t>(id >> 8);
}

/// TLP fields that a generic payload lacks. Command, address, length and data are those of the
/// payload; the address of a configuration request is the register offset in the target function.
/// Completion status: TLM_OK = successful, TLM_ADDRESS_ERROR = unsupported request,
/// TLM_GENERIC_ERROR = completer abort. The sender must clear the extension before it releases the
/// payload.
struct tlp : tlm::tlm_extension<tlp> {
    /// `error`: an error message to the root port; the address is its error_class. Two values are
    /// not TLPs: `hot_reset` is the training sequence by which a port resets the device on its link
    /// and all devices below (address 1: because the link goes down); `slot_power` switches the
    /// power of the slot's card (address 1: on, 0: off). These three have no data. `completion`: a
    /// completion redirected by access control; it is routed to the requester's id in `target` and
    /// has the length of its data.
    enum class space : std::uint8_t { memory, config, error, hot_reset, slot_power, completion };

    space destination = space::memory;
    function_id requester = 0;
    function_id target = 0;  ///< target of a configuration request or redirected completion
    bool relaxed_ordering = false;
    bool no_snoop = false;
    /// Set when the request or its completion is lost: the requester waits until its completion
    /// timeout. The response status is then an address error.
    bool lost = false;
    /// Set on the configuration request by which the platform disables a function whose host has
    /// left.
    bool host_left = false;
    /// Set when the request is for memory that the host had mapped and has freed.
    bool freed = false;
    /// Set by the function that answers a configuration request, for names in logs and of sockets;
    /// for a redirected completion, by the switch that redirects it.
    const sc_core::sc_object* completer = nullptr;

    tlm::tlm_extension_base* clone() const override { return new tlp(*this); }
    void copy_from(const tlm::tlm_extension_base& other) override {
        *this = static_cast<const tlp&>(other);
    }
};

/// The completion of a request that no device accepts: unsupported request (2.3.1).
inline void refuse(tlm::tlm_generic_payload& request) {
    request.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
}

/// Loses a request or its completion.
inline void lose(tlm::tlm_generic_payload& request) {
    if (auto* const header = request.get_extension<tlp>()) header->lost = true;
    refuse(request);
}

/// Attaches a TLP header to a payload for the length of one call. A header that the payload has
/// already returns afterwards.
class framed {
public:
    framed(tlm::tlm_generic_payload& payload, function_id requester) : payload_(payload) {
        header.requester = requester;
        outer_ = payload_.set_extension(&header);
    }
    ~framed() { payload_.set_extension(outer_); }
    framed(const framed&) = delete;
    framed& operator=(const framed&) = delete;

    tlp header;

private:
    tlm::tlm_generic_payload& payload_;
    tlp* outer_ = nullptr;
};

/// Whether the request repeats one that its target has deferred: it has crossed the links already.
inline bool is_repeated(const tlm::tlm_generic_payload& request) {
    const auto* const pending = request.get_extension<pending_access>();
    return pending != nullptr && pending->is_repeated();
}
/// Whether the target has deferred the request: it has no completion yet.
inline bool is_deferred(const tlm::tlm_generic_payload& request) {
    const auto* const pending = request.get_extension<pending_access>();
    return pending != nullptr && pending->is_deferred();
}

/// Sends `space` (hot_reset or slot_power) from a port to the device on its link.
inline void signal(plug& link, tlp::space space, std::uint64_t level = 0) {
    tlm::tlm_generic_payload request;
    framed framed(request, 0);
    framed.header.destination = space;
    set_message(request, level);
    sc_core::sc_time untimed;
    link.send(request, untimed);
}

/// Whether a device with power is at the other end: its vendor id can be read.
inline bool answers(plug& link) {
    if (!link.up()) return false;
    std::uint32_t id = ~0u;
    tlm::tlm_generic_payload request;
    framed framed(request, 0);
    framed.header.destination = tlp::space::config;
    set_access(request, tlm::TLM_READ_COMMAND, 0, &id, sizeof id);
    return link.peek(request) == sizeof id;
}

}  // namespace trn::pcie

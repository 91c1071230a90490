// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <systemc>
#include <tlm>

#include "platform/framework/tlm/plug.h"

namespace trn::pcie {

/// Error messages (2.2.8.3), as tlp::space::error carries them in the address.
enum class error_class : std::uint8_t { nonfatal, fatal, correctable };

/// Bus, device and function packed as in a TLP header (2.2.4.2): bus << 8 | device << 3 | function.
using function_id = std::uint16_t;

constexpr std::uint8_t bus_of(function_id id) {
    return static_cast<std::uint8_t>(id >> 8);
}

/// TLP fields that a generic payload lacks. Read or write, address, length and data are the
/// payload's own; a configuration request's address is the register offset in the target function.
/// Completion status: TLM_OK = successful, TLM_ADDRESS_ERROR = unsupported request,
/// TLM_GENERIC_ERROR = completer abort. The sender clears the extension before it releases the
/// payload.
struct tlp : tlm::tlm_extension<tlp> {
    /// `error` is an error message to the root port, its class in the address. `hot_reset` is
    /// no TLP but the training sequence of that name: the port above resets the device on its link,
    /// and all below. Nor is `slot_power`: the slot gives its card power, or takes it away, as the
    /// address says (1, 0). None of them has data. `completion` is one that access control has
    /// redirected: it is routed by its requester's id in `target`, with the length of its data.
    enum class space : std::uint8_t { memory, config, error, hot_reset, slot_power, completion };

    space to = space::memory;
    function_id requester = 0;
    function_id target = 0;  ///< configuration requests only: their target
    bool relaxed_ordering = false;
    bool no_snoop = false;
    /// Set by the block that loses the request or its completion: the requester waits until its
    /// completion time-out. The response status is then an address error.
    bool lost = false;
    /// Set by the function that answers a configuration request, for names in logs and of sockets;
    /// of a redirected completion the switch that redirects it.
    const sc_core::sc_object* completer = nullptr;

    tlm::tlm_extension_base* clone() const override { return new tlp(*this); }
    void copy_from(const tlm::tlm_extension_base& other) override {
        *this = static_cast<const tlp&>(other);
    }
};

/// Attaches a TLP header to a payload for the length of one call.
class framed {
public:
    framed(tlm::tlm_generic_payload& payload, function_id requester) : payload_(payload) {
        header.requester = requester;
        payload_.set_extension(&header);
    }
    ~framed() { payload_.clear_extension(&header); }
    framed(const framed&) = delete;
    framed& operator=(const framed&) = delete;

    tlp header;

private:
    tlm::tlm_generic_payload& payload_;
};

/// A port's message to the device on its link: `what` is hot_reset or slot_power.
inline void signal(plug& link, tlp::space what, std::uint64_t level = 0) {
    tlm::tlm_generic_payload request;
    framed framed(request, 0);
    framed.header.to = what;
    request.set_write();
    request.set_address(level);
    sc_core::sc_time untimed;
    link.send(request, untimed);
}

/// Whether there is a device with power at the other end: it completes a read of its vendor id.
inline bool answers(plug& link) {
    if (!link.up()) return false;
    std::uint32_t id = ~0u;
    tlm::tlm_generic_payload request;
    framed framed(request, 0);
    framed.header.to = tlp::space::config;
    request.set_read();
    request.set_data_ptr(reinterpret_cast<std::uint8_t*>(&id));
    request.set_data_length(sizeof id);
    request.set_streaming_width(sizeof id);
    sc_core::sc_time untimed;
    link.send(request, untimed);
    return request.is_response_ok();
}

}  // namespace trn::pcie

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <map>
#include <systemc>
#include <tlm>

#include "platform/framework/bridges/initiator_bridge.h"
#include "platform/framework/bridges/thread_bridge.h"
#include "platform/framework/tlm/plug.h"
#include "platform/framework/tlm/target_socket.h"

namespace trn {

/// A plug of a board module as a pair of sockets of the base protocol: `in` for requests to the
/// plug, `out` for requests of the plug. Bound on neither side, the link is down. Two pairs that
/// are bound to each other directly join their plugs: states and errors of the link between them
/// pass. With a foreign model, or one in between, only transactions pass, and the link is always
/// up.
///
/// Through `out`, requests other than reads are posted if their initiator cannot wait, as those of
/// PCI Express: interrupts and messages.
class link_sockets final : public sc_core::sc_module, private plug::device {
public:
    tlm::tlm_target_socket<64, tlm::tlm_base_protocol_types, 1, sc_core::SC_ZERO_OR_MORE_BOUND> in{
        "in"};
    tlm::tlm_initiator_socket<64, tlm::tlm_base_protocol_types, 1, sc_core::SC_ZERO_OR_MORE_BOUND>
        out{"out"};

    link_sockets(const sc_core::sc_module_name& name, plug& shown);

    ~link_sockets() override;

    /// Binds both sockets to those of another link.
    void bind(link_sockets& other);

private:
    void end_of_elaboration() override;
    const link_sockets* partner() const;
    static std::map<const tlm::tlm_fw_transport_if<>*, const link_sockets*>& entries();

    // plug::device: requests of the board to a foreign model
    void received(plug& local, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
    unsigned peeked(plug& local, tlm::tlm_generic_payload& payload) override;
    bool asked_for_pointer(plug& local, tlm::tlm_generic_payload& payload,
                           tlm::tlm_dmi& dmi) override;
    void pointers_revoked(plug& local, std::uint64_t first, std::uint64_t last) override;

    // Requests of a foreign model to the board.
    void send(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    unsigned peek(tlm::tlm_generic_payload& payload) { return own_.peek(payload); }
    bool ask_for_pointer(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
        return own_.ask_for_pointer(payload, dmi);
    }
    void revoke_pointers(sc_dt::uint64 first, sc_dt::uint64 last) {
        own_.revoke_pointers(first, last);
    }

    plug& shown_;
    plug own_{"plug", *this};
    initiator_bridge requests_{"requests"};
    target_socket<link_sockets> to_plug_{"to_plug"};
    tlm_utils::simple_initiator_socket<link_sockets, 64> from_plug_{"from_plug"};
    thread_bridge answers_{"answers", thread_bridge::use::boundary};
};

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <systemc>
#include <tlm>

#include "platform/framework/tlm/link_end.h"

namespace trn {

/// One end of a full-duplex connection for transactions. Two plugs are joined (`a.port <-> b.port`
/// in a board), each at most once; a link between two devices is a module with two plugs. Unused
/// plugs cost nothing.
///
/// Uses TLM-2.0's transport calls (no waiting, annotated delay, DMI with revocation), without
/// sockets, because both sides may initiate.
class plug : public sc_core::sc_object {
public:
    /// A module with plugs. `own_plug` is the device's plug; its index() distinguishes several.
    class device {
    public:
        /// Executes a transaction from the peer; sets the response before it returns.
        virtual void received(plug& own_plug, tlm::tlm_generic_payload& payload,
                              sc_core::sc_time& delay) = 0;
        /// Like received(), without time or side effects; returns the number of bytes transferred.
        virtual unsigned peeked(plug&, tlm::tlm_generic_payload&) { return 0; }
        /// The peer requests a direct pointer.
        virtual bool asked_for_pointer(plug&, tlm::tlm_generic_payload&, tlm::tlm_dmi& dmi) {
            dmi.allow_read_write();
            return false;
        }
        /// Pointers granted through the plug for these addresses are invalid.
        virtual void pointers_revoked(plug&, std::uint64_t /*first*/, std::uint64_t /*last*/) {}
        /// The link at this plug is up, down, or has changed speed or width.
        virtual void link_changed(plug&) {}
        /// The link at this plug has corrected an error.
        virtual void link_erred(plug&, link_error) {}
        /// Implemented by links: the link end for the peer of the plug.
        virtual link_end* link_seen_from(plug&) { return nullptr; }

    protected:
        ~device() = default;
    };

    plug(const char* name, device& owner, unsigned index = 0);
    ~plug() override;

    const char* kind() const override { return "plug"; }
    unsigned index() const { return index_; }

    /// Joins two different plugs. Precondition: neither is joined.
    void join(plug& other) {
        sc_assert(this != &other && peer_ == nullptr && other.peer_ == nullptr);
        peer_ = &other;
        other.peer_ = this;
    }
    bool joined() const { return peer_ != nullptr; }
    /// The plug joined to this one, or nullptr.
    plug* peer() const { return peer_; }
    /// The link at this plug; nullptr if it is unjoined or joined to a device directly.
    link_end* link() const {
        return peer_ == nullptr ? nullptr : peer_->owner_.link_seen_from(*peer_);
    }
    /// Whether an access sent now arrives at a device.
    bool up() const {
        if (peer_ == nullptr) return false;
        const auto* wire = link();
        return wire == nullptr || wire->up();
    }

    /// Sends a transaction. Without a peer: TLM_ADDRESS_ERROR_RESPONSE, like PCIe's Unsupported
    /// Request.
    void send(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
        if (peer_ == nullptr) return payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        peer_->owner_.received(*peer_, payload, delay);
    }
    unsigned peek(tlm::tlm_generic_payload& payload) {
        return peer_ == nullptr ? 0 : peer_->owner_.peeked(*peer_, payload);
    }
    bool ask_for_pointer(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
        if (peer_ != nullptr) return peer_->owner_.asked_for_pointer(*peer_, payload, dmi);
        dmi.allow_read_write();
        return false;
    }
    /// Invalidates direct pointers granted to the peer.
    void revoke_pointers(std::uint64_t first = 0, std::uint64_t last = ~std::uint64_t{0}) {
        if (peer_ != nullptr) peer_->owner_.pointers_revoked(*peer_, first, last);
    }
    /// Called by links: notifies the device joined to this plug.
    void report_link_change() {
        if (peer_ != nullptr) peer_->owner_.link_changed(*peer_);
    }
    void report_link_error(link_error error) {
        if (peer_ != nullptr) peer_->owner_.link_erred(*peer_, error);
    }

private:
    class checked_device;

    const std::unique_ptr<checked_device> checked_;  // only if checking is on (base_protocol.h)
    device& owner_;                                  // or the checked one, which forwards
    plug* peer_ = nullptr;
    const unsigned index_;
};

}  // namespace trn

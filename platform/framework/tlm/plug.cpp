// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/tlm/plug.h"

#include "platform/framework/tlm/protocol_checker.h"

namespace trn {

/// Checks the calls of a plug's device, and forwards them.
class plug::checked_device final : public plug::device {
public:
    checked_device(const plug& own_plug, device& owner)
        : checker_(own_plug, protocol::restricted), owner_(owner) {}

    static std::unique_ptr<checked_device> if_on(const plug& own_plug, device& owner) {
        if (base_protocol::current_policy() == base_protocol::policy::off) return nullptr;
        return std::make_unique<checked_device>(own_plug, owner);
    }

    void received(plug& own_plug, tlm::tlm_generic_payload& payload,
                  sc_core::sc_time& delay) override {
        checker_.transport("received", payload, delay,
                           [&] { owner_.received(own_plug, payload, delay); });
    }
    unsigned peeked(plug& own_plug, tlm::tlm_generic_payload& payload) override {
        return checker_.debug("peeked", payload, [&] { return owner_.peeked(own_plug, payload); });
    }
    bool asked_for_pointer(plug& own_plug, tlm::tlm_generic_payload& payload,
                           tlm::tlm_dmi& dmi) override {
        return checker_.pointer("asked_for_pointer", payload, dmi,
                                [&] { return owner_.asked_for_pointer(own_plug, payload, dmi); });
    }
    void pointers_revoked(plug& own_plug, std::uint64_t first, std::uint64_t last) override {
        checker_.invalidation("pointers_revoked", first, last,
                              [&] { owner_.pointers_revoked(own_plug, first, last); });
    }
    void link_changed(plug& own_plug) override { owner_.link_changed(own_plug); }
    void link_erred(plug& own_plug, link_error error) override {
        owner_.link_erred(own_plug, error);
    }
    link_end* link_seen_from(plug& own_plug) override { return owner_.link_seen_from(own_plug); }

private:
    protocol_checker checker_;
    device& owner_;
};

plug::plug(const char* name, device& owner, unsigned index)
    : sc_object(name),
      checked_(checked_device::if_on(*this, owner)),
      owner_(checked_ != nullptr ? *checked_ : owner),
      index_(index) {}

plug::~plug() = default;

}  // namespace trn

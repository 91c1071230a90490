// SPDX-License-Identifier: Apache-2.0
#include "platform/embedding/link_sockets.h"

#include <fmt/format.h>

#include "platform/embedding/reports.h"

namespace trn {

link_sockets::link_sockets(const sc_core::sc_module_name& name, plug& shown)
    : sc_module(name), shown_(shown) {
    in.bind(requests_.in);
    entries().emplace(&in.get_base_interface(), this);
    requests_.out.bind(to_plug_);
    to_plug_.register_b_transport(this, &link_sockets::send);
    to_plug_.register_transport_dbg(this, &link_sockets::peek);
    to_plug_.register_get_direct_mem_ptr(this, &link_sockets::ask_for_pointer);
    from_plug_.register_invalidate_direct_mem_ptr(this, &link_sockets::revoke_pointers);
    from_plug_.bind(answers_.in);
    answers_.out.bind(out);
}

link_sockets::~link_sockets() {
    std::erase_if(entries(), [this](const auto& entry) { return entry.second == this; });
}

void link_sockets::bind(link_sockets& other) {
    out.bind(other.in);
    other.out.bind(in);
}

/// The link whose `in` is bound to this `out`; nullptr: a foreign model.
const link_sockets* link_sockets::partner() const {
    const auto found = entries().find(out[0]);
    return found == entries().end() ? nullptr : found->second;
}

/// All links, by the interface that a call through their `in` arrives at.
std::map<const tlm::tlm_fw_transport_if<>*, const link_sockets*>& link_sockets::entries() {
    static std::map<const tlm::tlm_fw_transport_if<>*, const link_sockets*> all;
    return all;
}

/// Bindings are complete; models look at their plugs from the start of simulation on.
void link_sockets::end_of_elaboration() {
    const bool receives = in.size() != 0, sends = out.size() != 0;
    if (!receives && !sends) return;
    if (!receives || !sends)
        return report_board(fmt::format("{}: '{}' is bound, but not '{}': bind both or neither",
                                        name(), sends ? "out" : "in", sends ? "in" : "out"));
    const auto* const other = partner();
    if (other == nullptr) return shown_.join(own_);
    if (other == this || other->out.size() == 0 || other->partner() != this)
        return report_board(
            fmt::format("{}: 'out' is bound to {}, but not its 'out' to this 'in': a link has two "
                        "ends",
                        name(), other == this ? "itself" : other->name()));
    if (!shown_.joined()) shown_.join(other->shown_);
}

void link_sockets::received(plug&, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    from_plug_->b_transport(payload, delay);
}

unsigned link_sockets::peeked(plug&, tlm::tlm_generic_payload& payload) {
    return from_plug_->transport_dbg(payload);
}

bool link_sockets::asked_for_pointer(plug&, tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
    return from_plug_->get_direct_mem_ptr(payload, dmi);
}

void link_sockets::pointers_revoked(plug&, std::uint64_t first, std::uint64_t last) {
    to_plug_->invalidate_direct_mem_ptr(first, last);
}

void link_sockets::send(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    own_.send(payload, delay);
}

}  // namespace trn

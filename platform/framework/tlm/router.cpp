// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/tlm/router.h"

#include <algorithm>

#include "platform/framework/tlm/set_access.h"

namespace trn {

namespace {

bool contains(const router::range& range, std::uint64_t address, std::uint64_t length) {
    // Below the base: wraps to more than any size.
    const std::uint64_t offset = address - range.base;
    return offset < range.size && length <= range.size - offset;
}

}  // namespace

router::router(sc_core::sc_module_name name, const config& cfg) : sc_module(name), cfg_(cfg) {
    target.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
    initiator.register_invalidate_direct_mem_ptr(this, &router::invalidate_direct_mem_ptr);
}

void router::end_of_elaboration() {
    for (unsigned port = 0; port < initiator.size(); ++port)
        targets_.push_back(initiator[static_cast<int>(port)]);
}

const router::range* router::map(const range& added) {
    sc_assert(added.size > 0);
    const auto next = std::ranges::upper_bound(ranges_, added.base, {}, &range::base);
    if (next != ranges_.end() && next->base - added.base < added.size) return &*next;
    if (next != ranges_.begin()) {
        const range& previous = *std::prev(next);
        if (added.base - previous.base < previous.size) return &previous;
    }
    last_ = {};
    ranges_.insert(next, added);
    return nullptr;
}

const router::range* router::decode(std::uint64_t address, std::uint64_t length) const {
    const auto next = std::ranges::upper_bound(ranges_, address, {}, &range::base);
    if (next == ranges_.begin() || !contains(*std::prev(next), address, length)) return nullptr;
    return &*std::prev(next);
}

/// Makes the range of the access the last one. False: there is none.
bool router::find(std::uint64_t address, std::uint64_t length) {
    const range* hit = decode(address, length);
    if (hit == nullptr) return false;
    last_ = {*hit, targets_[hit->port], cfg_.hop_latency};
    return true;
}

void router::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    const std::uint64_t address = payload.get_address();
    const unsigned length = addressed_bytes(payload);
    if (!contains(last_.mapped, address, length) && !find(address, length)) [[unlikely]] {
        payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
        return;
    }
    delay += last_.latency;
    payload.set_address(address - last_.mapped.base + last_.mapped.target_base);
    last_.target->b_transport(payload, delay);
    payload.set_address(address);  // so that initiators can reuse their payload
}

unsigned router::transport_dbg(tlm::tlm_generic_payload& payload) {
    const std::uint64_t address = payload.get_address();
    const range* hit = decode(address, payload.get_data_length());
    if (hit == nullptr) return 0;
    payload.set_address(address - hit->base + hit->target_base);
    const unsigned done = initiator[static_cast<int>(hit->port)]->transport_dbg(payload);
    payload.set_address(address);
    return done;
}

bool router::get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
    const std::uint64_t address = payload.get_address();
    const range* hit = decode(address, 1);
    if (hit == nullptr) {
        dmi.allow_read_write();
        const auto next = std::ranges::upper_bound(ranges_, address, {}, &range::base);
        dmi.set_start_address(
            next == ranges_.begin() ? 0 : std::prev(next)->base + std::prev(next)->size);
        dmi.set_end_address(next == ranges_.end() ? ~sc_dt::uint64{0} : next->base - 1);
        return false;
    }
    payload.set_address(address - hit->base + hit->target_base);
    const bool granted = initiator[static_cast<int>(hit->port)]->get_direct_mem_ptr(payload, dmi);
    payload.set_address(address);

    // Clip the granted range to this range's part of the target, then translate it back.
    const std::uint64_t first = std::max<std::uint64_t>(dmi.get_start_address(), hit->target_base);
    const std::uint64_t last =
        std::min<std::uint64_t>(dmi.get_end_address(), hit->target_base + (hit->size - 1));
    if (granted) dmi.set_dmi_ptr(dmi.get_dmi_ptr() + (first - dmi.get_start_address()));
    dmi.set_start_address(first - hit->target_base + hit->base);
    dmi.set_end_address(last - hit->target_base + hit->base);
    dmi.set_read_latency(dmi.get_read_latency() + cfg_.hop_latency);
    dmi.set_write_latency(dmi.get_write_latency() + cfg_.hop_latency);
    return granted;
}

void router::invalidate_direct_mem_ptr(int port, sc_dt::uint64 first, sc_dt::uint64 last) {
    for (const range& range : ranges_) {
        if (range.port != static_cast<unsigned>(port)) continue;
        const std::uint64_t range_last = range.target_base + (range.size - 1);
        if (last < range.target_base || first > range_last) continue;
        const std::uint64_t part_first = std::max<std::uint64_t>(first, range.target_base);
        const std::uint64_t part_last = std::min<std::uint64_t>(last, range_last);
        for (int i = 0; i < target.size(); ++i) {
            target[i]->invalidate_direct_mem_ptr(part_first - range.target_base + range.base,
                                                 part_last - range.target_base + range.base);
        }
    }
}

}  // namespace trn

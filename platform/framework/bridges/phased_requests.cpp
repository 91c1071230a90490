// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/bridges/phased_requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "platform/framework/bridges/attribution.h"
#include "platform/framework/bridges/reports.h"

namespace trn {

using sc_core::sc_time;

tlm::tlm_sync_enum phased_requests::receive(tlm::tlm_generic_payload& payload,
                                            tlm::tlm_phase& phase, const sc_time& delay) {
    if (phase == tlm::END_RESP) {
        if (responding_ != nullptr && &responding_->payload == &payload) end(*responding_, delay);
        return tlm::TLM_COMPLETED;
    }
    if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;  // an ignorable phase
    if (!payload.has_mm()) {
        bridge_report::protocol(
            fmt::format("{}: the payload of a {} has no memory manager, which nb_transport needs; "
                        "call set_mm() and acquire(), or b_transport",
                        owner_.name(), bridge_report::describe(payload)));
        payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
        return tlm::TLM_COMPLETED;
    }
    payload.acquire();
    request& added = requests_.emplace_back(payload, sc_core::sc_time_stamp() + delay, work_);
    work_.notify(delay);
    added.is_taken = requests_.size() <= max_taken;
    if (!added.is_taken) return tlm::TLM_ACCEPTED;
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
}

void phased_requests::serve(tlm::tlm_blocking_transport_if<>& target,
                            tlm::tlm_bw_transport_if<>& initiator, const trn::initiator& caller) {
    std::erase_if(requests_, [](const request& each) { return each.progress == state::ended; });
    const sc_time& now = sc_core::sc_time_stamp();
    for (request& each : requests_)
        if (each.progress == state::requested && each.is_taken && each.due <= now)
            execute(each, target, caller);

    while (responding_ == nullptr && response_free_at_ <= now) {
        const auto next = std::ranges::min_element(requests_, {}, [](const request& each) {
            return each.progress == state::answered ? each.due : sc_core::sc_max_time();
        });
        if (next == requests_.end() || next->progress != state::answered || next->due > now) break;
        respond(*next, initiator);
    }
    std::erase_if(requests_, [](const request& each) { return each.progress == state::ended; });
    if (const auto waiting = std::ranges::find(requests_, false, &request::is_taken);
        waiting != requests_.end() && requests_.size() <= max_taken) {
        waiting->is_taken = true;
        tlm::tlm_phase phase = tlm::END_REQ;
        sc_time delay;
        initiator.nb_transport_bw(waiting->payload, phase, delay);
    }
    schedule();
}

void phased_requests::execute(request& next, tlm::tlm_blocking_transport_if<>& target,
                              const trn::initiator& caller) {
    sc_time delay;
    next.payload.set_extension(&next.access);
    next.access.attempt(next.payload);
    {
        const attributed_call attributed(next.payload, caller);
        target.b_transport(next.payload, delay);
    }
    next.payload.clear_extension<pending_access>();
    if (next.access.is_deferred()) return;  // it notifies work_
    next.access.abandon();
    next.progress = state::answered;
    next.due = sc_core::sc_time_stamp() + delay;
}

void phased_requests::respond(request& next, tlm::tlm_bw_transport_if<>& initiator) {
    next.progress = state::responding;
    responding_ = &next;
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_time delay;
    const tlm::tlm_sync_enum taken = initiator.nb_transport_bw(next.payload, phase, delay);
    const bool has_ended =
        taken == tlm::TLM_COMPLETED || (taken == tlm::TLM_UPDATED && phase == tlm::END_RESP);
    if (has_ended && next.progress == state::responding) end(next, delay);
}

/// The initiator has taken the response, and takes the next one after `delay`.
void phased_requests::end(request& done, const sc_time& delay) {
    responding_ = nullptr;
    response_free_at_ = sc_core::sc_time_stamp() + delay;
    done.progress = state::ended;
    done.payload.release();
    work_.notify(delay);
}

/// Requests the next call of serve(). Deferred requests are repeated with it too.
void phased_requests::schedule() const {
    const sc_time& now = sc_core::sc_time_stamp();
    sc_time next = sc_core::sc_max_time();
    for (const request& each : requests_) {
        if (each.progress == state::answered && responding_ == nullptr)
            next = std::min(next, std::max(each.due, response_free_at_));
        if (each.progress == state::requested && each.is_taken && !each.access.is_deferred())
            next = std::min(next, each.due);
    }
    if (next != sc_core::sc_max_time()) work_.notify(std::max(next, now) - now);
}

}  // namespace trn

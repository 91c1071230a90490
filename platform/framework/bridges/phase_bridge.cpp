// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/bridges/phase_bridge.h"

#include <fmt/format.h>

#include "platform/framework/bridges/reports.h"
#include "platform/framework/bridges/target_call.h"

namespace trn {

using sc_core::sc_time;

namespace {

/// An extended phase of another project.
bool is_ignorable(const tlm::tlm_phase& phase) {
    return phase > tlm::END_RESP;
}

/// Whether the target answers BEGIN_REQ as the base protocol allows, other than by TLM_ACCEPTED.
bool is_answer(tlm::tlm_sync_enum progress, const tlm::tlm_phase& phase) {
    return progress == tlm::TLM_COMPLETED ||
           (progress == tlm::TLM_UPDATED && (phase == tlm::END_REQ || phase == tlm::BEGIN_RESP));
}

}  // namespace

phase_bridge::phase_bridge(const sc_core::sc_module_name& name)
    : forwarding_module(name, protocol::restricted, protocol::base) {
    SC_HAS_PROCESS(phase_bridge);
    SC_METHOD(send_requests);
    sensitive << free_;
    dont_initialize();
}

void phase_bridge::b_transport(tlm::tlm_generic_payload& payload, sc_time& delay) {
    call* const added = calls_.enter(payload, delay);
    if (added == nullptr) return;
    requests_.push_back(added);
    send_requests();
    if (added->is_done()) calls_.enter(payload, delay);  // has the response already
}

tlm::tlm_sync_enum phase_bridge::nb_transport_fw(tlm::tlm_generic_payload& payload, tlm::tlm_phase&,
                                                 sc_time&) {
    bridge_report::protocol(
        fmt::format("{}: non-blocking transport of a {}: bind a foreign initiator through a "
                    "trn::initiator_bridge (doc/tlm.md)",
                    name(), bridge_report::describe(payload)));
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    return tlm::TLM_COMPLETED;
}

void phase_bridge::send_requests() {
    while (sent_ == nullptr && !requests_.empty()) {
        const sc_time& now = sc_core::sc_time_stamp();
        if (free_at_ > now) return free_.notify(free_at_ - now);
        call& next = *requests_.front();
        requests_.pop_front();
        send(next);
    }
}

void phase_bridge::send(call& next) {
    sent_ = &next;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_time delay = next.delay();
    tlm::tlm_sync_enum progress = tlm::TLM_COMPLETED;
    call_target(*this, next, [&] { progress = out->nb_transport_fw(next, phase, delay); });
    if (progress == tlm::TLM_ACCEPTED || (progress == tlm::TLM_UPDATED && is_ignorable(phase)))
        return;          // the target calls back
    if (next.is_done())  // and has done so: this is a second response
        return bridge_report::protocol(
            fmt::format("{}: the target answers a {} by nb_transport_bw and by its return", name(),
                        bridge_report::describe(next)));
    if (!is_answer(progress, phase))
        return bridge_report::protocol(fmt::format(
            "{}: the target answers BEGIN_REQ of a {} by the return value {} with "
            "phase {}; the access waits for END_REQ or BEGIN_RESP",
            name(), bridge_report::describe(next), static_cast<int>(progress), phase.get_name()));
    end_request(next, delay);
    if (progress == tlm::TLM_UPDATED && phase == tlm::END_REQ) return;
    const sc_time end = sc_core::sc_time_stamp() + delay;
    if (progress == tlm::TLM_UPDATED) {  // BEGIN_RESP
        phase = tlm::END_RESP;
        call_target(*this, next, [&] { out->nb_transport_fw(next, phase, delay); });
    }
    calls_.finish(next, end);
}

/// The target has taken the request, and takes the next one after `delay`.
void phase_bridge::end_request(const call& sent, const sc_time& delay) {
    if (sent_ != &sent) return;  // END_REQ was before BEGIN_RESP
    sent_ = nullptr;
    free_at_ = sc_core::sc_time_stamp() + delay;
    if (!requests_.empty()) free_.notify(delay);
}

tlm::tlm_sync_enum phase_bridge::nb_transport_bw(tlm::tlm_generic_payload& payload,
                                                 tlm::tlm_phase& phase, sc_time& delay) {
    if (is_ignorable(phase)) return tlm::TLM_ACCEPTED;
    auto* const answered = dynamic_cast<call*>(&payload);
    if (answered == nullptr || answered->is_done() ||
        (phase != tlm::END_REQ && phase != tlm::BEGIN_RESP)) {
        bridge_report::protocol(fmt::format("{}: the target sends phase {} for a {}", name(),
                                            phase.get_name(), bridge_report::describe(payload)));
        return tlm::TLM_ACCEPTED;
    }
    end_request(*answered, delay);
    if (phase == tlm::END_REQ) return tlm::TLM_ACCEPTED;
    calls_.finish(*answered, sc_core::sc_time_stamp() + delay);
    return tlm::TLM_COMPLETED;  // END_RESP at the same time
}

}  // namespace trn

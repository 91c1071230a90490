// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/bridges/thread_bridge.h"

#include <fmt/format.h>

#include "platform/framework/bridges/reports.h"
#include "platform/framework/bridges/target_call.h"
#include "platform/framework/tlm/refuse_pointer.h"

namespace trn {

thread_bridge::thread_bridge(const sc_core::sc_module_name& name, use purpose)
    : forwarding_module(name, protocol::restricted, protocol::base), use_(purpose) {
    SC_HAS_PROCESS(thread_bridge);
    SC_METHOD(launch);
    sensitive << first_request_;
    dont_initialize();
}

void thread_bridge::end_of_elaboration() {
    if (use_ == use::bridge && out.size() == 0)
        bridge_report::binding(fmt::format("{} is not bound", out.name()));
}

unsigned thread_bridge::transport_dbg(tlm::tlm_generic_payload& payload) {
    return out.size() == 0 ? 0 : forwarding_module::transport_dbg(payload);
}

bool thread_bridge::get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
    return out.size() == 0 ? refuse_pointer(payload, dmi)
                           : forwarding_module::get_direct_mem_ptr(payload, dmi);
}

deferred_calls::call* thread_bridge::enter(tlm::tlm_generic_payload& payload,
                                           sc_core::sc_time& delay) {
    const bool is_posted = use_ == use::boundary && !payload.is_read() &&
                           payload.get_extension<pending_access>() == nullptr;
    return is_posted ? calls_.post(payload, delay) : calls_.enter(payload, delay);
}

void thread_bridge::b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
    if (out.size() == 0) return payload.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
    deferred_calls::call* const added = enter(payload, delay);
    if (added == nullptr) return;
    requests_.push_back(added);
    // The target is called in the next delta cycle, whatever the order of processes in this one.
    (has_thread_ ? request_ : first_request_).notify(sc_core::SC_ZERO_TIME);
}

tlm::tlm_sync_enum thread_bridge::nb_transport_fw(tlm::tlm_generic_payload& payload,
                                                  tlm::tlm_phase&, sc_core::sc_time&) {
    bridge_report::protocol(
        fmt::format("{}: non-blocking transport of a {}: bind a foreign initiator through a "
                    "trn::initiator_bridge (doc/tlm.md)",
                    name(), bridge_report::describe(payload)));
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    return tlm::TLM_COMPLETED;
}

tlm::tlm_sync_enum thread_bridge::nb_transport_bw(tlm::tlm_generic_payload& payload,
                                                  tlm::tlm_phase&, sc_core::sc_time&) {
    bridge_report::protocol(
        fmt::format("{}: the target answers a {} by nb_transport_bw, but was called by b_transport",
                    name(), bridge_report::describe(payload)));
    return tlm::TLM_ACCEPTED;
}

/// Creates the thread as a child of this module: a process of the initiator would be its parent
/// otherwise.
void thread_bridge::launch() {
    has_thread_ = true;
    sc_core::sc_spawn_options options;
    options.set_sensitivity(&request_);
    sc_core::sc_spawn([this] { serve(); }, "thread", &options);
}

void thread_bridge::serve() {
    for (;;) {
        while (requests_.empty()) sc_core::wait();
        deferred_calls::call& next = *requests_.front();
        requests_.pop_front();
        sc_core::sc_time delay = next.delay();
        call_target(*this, next, [&] { out->b_transport(next, delay); });
        calls_.finish(next, sc_core::sc_time_stamp() + delay);
    }
}

}  // namespace trn

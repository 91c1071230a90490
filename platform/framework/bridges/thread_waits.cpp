// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/bridges/thread_waits.h"

#include <fmt/format.h>

#include <utility>

#include "platform/framework/bridges/attribution.h"
#include "platform/framework/bridges/reports.h"

namespace trn {

using sc_core::sc_time;

namespace {

bool caller_can_wait() {
    if (!sc_core::sc_is_running()) return false;  // elaboration
    const sc_core::sc_process_handle caller = sc_core::sc_get_current_process_handle();
    return caller.valid() && (caller.proc_kind() == sc_core::SC_THREAD_PROC_ ||
                              caller.proc_kind() == sc_core::SC_CTHREAD_PROC_);
}

}  // namespace

/// A place that is attached to a payload. The caller may be killed while it waits.
class thread_waits::use {
public:
    use(thread_waits& owner, tlm::tlm_generic_payload& payload) : owner_(owner), payload_(payload) {
        if (owner_.idle_.empty()) {
            place_ = std::make_unique<place>();
        } else {
            place_ = std::move(owner_.idle_.back());
            owner_.idle_.pop_back();
        }
        payload_.set_extension(&place_->access);
    }
    ~use() {
        payload_.clear_extension<pending_access>();
        place_->access.abandon();
        owner_.idle_.push_back(std::move(place_));
    }
    use(const use&) = delete;
    use& operator=(const use&) = delete;

    pending_access& access() { return place_->access; }
    void wait() { sc_core::wait(place_->woken); }

private:
    thread_waits& owner_;
    tlm::tlm_generic_payload& payload_;
    std::unique_ptr<place> place_;
};

void thread_waits::transport(tlm::tlm_blocking_transport_if<>& target,
                             tlm::tlm_generic_payload& payload, sc_time& delay,
                             const initiator& caller) {
    const auto call = [&] {
        const attributed_call attributed(payload, caller);
        target.b_transport(payload, delay);
    };
    // The initiator, behind a foreign interconnect, repeats its access itself.
    if (payload.get_extension<pending_access>() != nullptr) return call();
    use waiting(*this, payload);
    for (;;) {
        waiting.access().attempt(payload);
        call();
        if (!waiting.access().is_deferred()) return;
        if (!caller_can_wait()) break;
        const sc_time local = sc_core::sc_time_stamp() + delay;
        waiting.wait();
        const sc_time& now = sc_core::sc_time_stamp();
        delay = local > now ? local - now : sc_core::SC_ZERO_TIME;
        payload.set_dmi_allowed(false);
    }
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    bridge_report::initiator_cannot_wait(fmt::format(
        "{}: the target defers a {}, but the initiator called b_transport outside of a thread; "
        "call it from an SC_THREAD, or attach a trn::pending_access (doc/tlm.md)",
        owner_.name(), bridge_report::describe(payload)));
}

}  // namespace trn

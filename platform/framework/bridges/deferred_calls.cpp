// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/bridges/deferred_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "platform/framework/bridges/reports.h"
#include "platform/framework/kernel/time_text.h"
#include "platform/framework/misuse/initiator.h"

namespace trn {

using sc_core::sc_time;

namespace {

std::string describe_initiator() {
    const initiator* const source = initiator::current();
    return source == nullptr ? "an initiator" : source->describe();
}

}  // namespace

deferred_calls::call::call(deferred_calls& owner)
    : tlm_generic_payload(&owner), asker_([this, &owner] { owner.recycle(*this); }) {
    set_extension(&attribution_);
}

deferred_calls::call::~call() {
    forget();
    clear_extension(&attribution_);
}

sc_time deferred_calls::call::delay() const {
    const sc_time& now = sc_core::sc_time_stamp();
    return start_ > now ? start_ - now : sc_core::SC_ZERO_TIME;
}

void deferred_calls::call::copy(const tlm::tlm_generic_payload& original, const sc_time& start) {
    const bool is_selective = original.get_byte_enable_ptr() != nullptr;
    bytes_.resize(original.get_data_length());
    enables_.resize(is_selective ? original.get_byte_enable_length() : 0);
    set_data_ptr(bytes_.data());
    set_byte_enable_ptr(is_selective ? enables_.data() : nullptr);
    deep_copy_from(original);  // attribution by its copy_from(), other extensions by their clone()
    if (original.get_extension<attribution>() == nullptr) attribution_.take();
    set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    set_dmi_allowed(false);
    start_ = start;
    is_done_ = false;
}

deferred_calls::call* deferred_calls::enter(tlm::tlm_generic_payload& payload, sc_time& delay) {
    auto* const access = payload.get_extension<pending_access>();
    if (access == nullptr) {
        refuse(payload);
        return nullptr;
    }
    const sc_time& now = sc_core::sc_time_stamp();
    if (call* const repeated = access->is_repeated() ? find(payload) : nullptr) {
        if (!repeated->is_done_) {
            repeated->asker_.hold(payload);
            return nullptr;
        }
        payload.update_original_from(*repeated);
        if (repeated->end_ > now) delay = std::max(delay, repeated->end_ - now);
        access->abandon();  // ends the call
        return nullptr;
    }
    call* const added = unused();
    if (added == nullptr) {
        room_.hold(payload);
        return nullptr;
    }
    added->copy(payload, now + delay);
    added->acquire();
    added->asker_.hold(payload);
    return added;
}

deferred_calls::call* deferred_calls::post(tlm::tlm_generic_payload& payload,
                                           const sc_time& delay) {
    call* const added = unused();
    if (added == nullptr) {
        lose(payload);
        return nullptr;
    }
    added->copy(payload, sc_core::sc_time_stamp() + delay);
    added->acquire();
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    return added;
}

void deferred_calls::finish(call& done, const sc_time& end) {
    check(done);
    done.is_done_ = true;
    done.end_ = end;
    done.asker_.wake();
    done.release();
}

/// What the target has left in the payload.
void deferred_calls::check(call& answered) const {
    if (answered.get_data_ptr() != answered.bytes_.data()) {
        bridge_report::protocol(
            fmt::format("{}: the target has changed the data pointer of a {}; what it points to is "
                        "ignored",
                        owner_.name(), bridge_report::describe(answered)));
        answered.set_data_ptr(answered.bytes_.data());
    }
    if (answered.get_response_status() == tlm::TLM_INCOMPLETE_RESPONSE) {
        bridge_report::protocol(
            fmt::format("{}: the target has not set the response of a {}, which fails",
                        owner_.name(), bridge_report::describe(answered)));
        answered.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    }
}

/// Drops the extensions of the access.
void deferred_calls::call::forget() {
    attribution_.release();
    reset();  // frees the clones
}

/// The foreign target does not refer to the transaction any more.
void deferred_calls::free(tlm::tlm_generic_payload* released) {
    recycle(static_cast<call&>(*released));
}

/// Makes the call available again, unless the target refers to it or its response is not fetched.
void deferred_calls::recycle(call& ended) {
    if (ended.get_ref_count() > 0 || ended.asker_.is_used()) return;
    ended.forget();
    idle_.push_back(&ended);
    room_.wake();
}

std::optional<std::string> deferred_calls::describe_wait() const {
    const call* oldest = nullptr;
    std::size_t count = 0;
    for (const auto& each : all_) {
        if (each->is_done_ || each->get_ref_count() == 0) continue;
        ++count;
        if (oldest == nullptr || each->start_ < oldest->start_) oldest = each.get();
    }
    if (oldest == nullptr) return std::nullopt;
    return fmt::format("the foreign target to answer a {} since {}{}",
                       bridge_report::describe(*oldest), to_text(oldest->start_),
                       count > 1 ? fmt::format("; {} more", count - 1) : "");
}

deferred_calls::call* deferred_calls::find(const tlm::tlm_generic_payload& payload) {
    const auto found =
        std::ranges::find_if(all_, [&](const auto& each) { return each->asker_.holds(payload); });
    return found == all_.end() ? nullptr : found->get();
}

deferred_calls::call* deferred_calls::unused() {
    if (idle_.empty()) {
        if (all_.size() == max_calls) return nullptr;
        return all_.emplace_back(new call(*this)).get();
    }
    call* const last = idle_.back();
    idle_.pop_back();
    return last;
}

void deferred_calls::refuse(tlm::tlm_generic_payload& payload) {
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    if (has_refused_) return;
    has_refused_ = true;
    bridge_report::initiator_cannot_wait(
        fmt::format("{}: {} cannot wait for the foreign target: {}; let it access through a "
                    "trn::memory_port, or bind the target without this bridge if it never waits "
                    "(doc/tlm.md); reported once",
                    owner_.name(), describe_initiator(), bridge_report::describe(payload)));
}

/// Reported at the first loss, and whenever the count has doubled.
void deferred_calls::lose(tlm::tlm_generic_payload& payload) {
    payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    if (!std::has_single_bit(++lost_)) return;
    bridge_report::initiator_cannot_wait(fmt::format(
        "{}: {} accesses are under way; a {} of {} is lost ({} lost so far): the "
        "foreign target must answer the earlier ones (doc/tlm.md)",
        owner_.name(), open(), bridge_report::describe(payload), describe_initiator(), lost_));
}

}  // namespace trn

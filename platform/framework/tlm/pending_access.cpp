// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/tlm/pending_access.h"

#include <utility>

namespace trn {

void pending_access::attempt(const tlm::tlm_generic_payload& payload) {
    const bool is_same = payload.get_command() == command_ && payload.get_address() == address_ &&
                         payload.get_data_length() == length_;
    if (!is_same) abandon();
    is_deferred_ = false;
    begin(payload);
}

void pending_access::begin(const tlm::tlm_generic_payload& payload) {
    command_ = payload.get_command();
    address_ = payload.get_address();
    length_ = payload.get_data_length();
}

void pending_access::leave() {
    deferral& holder = *std::exchange(held_by_, nullptr);
    std::erase(holder.held_, this);
    if (holder.held_.empty() && holder.unused_) holder.unused_();
}

deferral::~deferral() {
    for (pending_access* each : held_) each->held_by_ = nullptr;
}

void deferral::hold(tlm::tlm_generic_payload& payload) {
    auto* const access = payload.get_extension<pending_access>();
    payload.set_response_status(access != nullptr ? tlm::TLM_INCOMPLETE_RESPONSE
                                                  : tlm::TLM_GENERIC_ERROR_RESPONSE);
    if (access == nullptr) return;
    if (access->held_by_ != this) {
        access->abandon();
        access->held_by_ = this;
        held_.push_back(access);
    }
    access->is_deferred_ = true;
}

bool deferral::holds(const tlm::tlm_generic_payload& payload) const {
    const auto* const access = payload.get_extension<pending_access>();
    return access != nullptr && access->held_by_ == this;
}

void deferral::wake() const {
    for (const pending_access* each : held_) each->wake_.notify(sc_core::SC_ZERO_TIME);
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/bridges/attribution.h"

namespace trn {

void attribution::take() {
    const initiator* const source = initiator::current();
    is_named_ = source != nullptr;
    if (is_named_) source_ = source->refer();
    operation_ = trace::current_operation();
    work_ = started_work::current();
}

attributed_call::attributed_call(const tlm::tlm_generic_payload& payload, const initiator& caller) {
    const auto* const known = payload.get_extension<attribution>();
    if (known == nullptr) {
        if (initiator::current() == nullptr) acting_.emplace(caller);
        return;
    }
    if (known->is_named_) {
        const initiator* const source = known->source_.get();
        acting_.emplace(source != nullptr ? *source : caller);
    }
    operation_.emplace(known->operation_);
    work_.emplace(known->work_);
}

}  // namespace trn

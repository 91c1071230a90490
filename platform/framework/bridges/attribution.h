// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <tlm>

#include "platform/framework/kernel/started_work.h"
#include "platform/framework/kernel/trace.h"
#include "platform/framework/misuse/initiator.h"

namespace trn {

/// On whose behalf a foreign model accesses the platform: initiator, operation of the trace, and
/// share of started work. Calls inside the platform have them in globals, because they never wait.
/// An access that enters a foreign target takes them along in this ignorable extension, which the
/// target may pass on with the payload.
class attribution : public tlm::tlm_extension<attribution> {
public:
    /// Becomes that of the call that runs now.
    void take();
    /// Gives up the share of started work.
    void release() { work_.reset(); }

    tlm::tlm_extension_base* clone() const override { return new attribution(*this); }
    void copy_from(const tlm::tlm_extension_base& other) override {
        *this = static_cast<const attribution&>(other);
    }

private:
    friend class attributed_call;

    bool is_named_ = false;  // else a model's own process or a tool
    initiator::handle source_;
    trace::operation operation_ = 0;
    started_work::share work_;
};

/// Around a call from a foreign model into the platform that does not wait: sets the globals to the
/// payload's attribution. Without one, the access belongs to the call of the platform that led to
/// the foreign model and has not returned, or to `caller`.
class attributed_call {
public:
    attributed_call(const tlm::tlm_generic_payload& payload, const initiator& caller);
    attributed_call(const attributed_call&) = delete;
    attributed_call& operator=(const attributed_call&) = delete;

private:
    std::optional<acting> acting_;
    std::optional<trace::on_behalf_of> operation_;
    std::optional<started_work::collector> work_;
};

}  // namespace trn

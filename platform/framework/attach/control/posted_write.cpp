// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/attach/control/posted_write.h"

#include <memory>
#include <string>
#include <vector>

#include "platform/framework/kernel/time_text.h"
#include "platform/framework/log.h"
#include "platform/framework/tlm/pending_access.h"
#include "platform/framework/tlm/set_access.h"

namespace trn {

using sc_core::sc_time;
using sc_core::sc_time_stamp;

/// A write with its copy of the bytes.
class posted_write::waiting {
public:
    waiting(tlm::tlm_fw_transport_if<>& target, const char* space, std::uint64_t address,
            std::span<const std::byte> bytes)
        : target_(target), space_(space), bytes_(bytes.begin(), bytes.end()) {
        set_access(payload_, tlm::TLM_WRITE_COMMAND, address, bytes_.data(), bytes_.size());
        if (++all_ <= max_waiting) payload_.set_extension(&pending_);
    }
    ~waiting() {
        payload_.clear_extension(&pending_);
        --all_;
    }
    waiting(const waiting&) = delete;
    waiting& operator=(const waiting&) = delete;

    bool is_deferred() const { return pending_.is_deferred(); }
    tlm::tlm_response_status attempt(sc_time& delay) {
        pending_.attempt(payload_);
        payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
        payload_.set_dmi_allowed(false);
        target_.b_transport(payload_, delay);
        return payload_.get_response_status();
    }
    /// Repeats the write until it has a response or is late.
    void finish() {
        const sc_time end = sc_time_stamp() + sc_time(longest_ms, sc_core::SC_MS);
        while (sc_time_stamp() < end) {
            sc_core::wait(end - sc_time_stamp(), woken_);
            sc_time delay;
            const auto response = attempt(delay);
            if (is_deferred()) continue;
            if (response != tlm::TLM_OK_RESPONSE) tell(payload_.get_response_string());
            return;
        }
        tell("it has not taken it after " + to_text(sc_time(longest_ms, sc_core::SC_MS)));
    }

private:
    void tell(const std::string& why) const {
        log::error(space_, "a tool's write of {} bytes at {:#x} was dropped: {}", bytes_.size(),
                   payload_.get_address(), why);
    }

    static inline unsigned all_ = 0;

    tlm::tlm_fw_transport_if<>& target_;
    const std::string space_;
    std::vector<std::byte> bytes_;
    tlm::tlm_generic_payload payload_;
    sc_core::sc_event woken_;
    pending_access pending_{woken_};
};

tlm::tlm_response_status posted_write::make(tlm::tlm_fw_transport_if<>& target, const char* space,
                                            std::uint64_t address, std::span<const std::byte> bytes,
                                            sc_time& delay) {
    const auto write = std::make_shared<waiting>(target, space, address, bytes);
    const auto response = write->attempt(delay);
    if (!write->is_deferred()) return response;
    sc_core::sc_spawn([write] { write->finish(); }, sc_core::sc_gen_unique_name("posted_write"));
    return tlm::TLM_OK_RESPONSE;
}

}  // namespace trn

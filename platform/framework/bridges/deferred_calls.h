// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "platform/framework/bridges/attribution.h"
#include "platform/framework/tlm/pending_access.h"

namespace trn {

/// Accesses of this project's initiators while a foreign target works on them. Each is deferred,
/// and copied into a transaction that lives as long as the target needs it: the initiator's payload
/// is free for other accesses in the meantime.
class deferred_calls : private tlm::tlm_mm_interface {
public:
    static constexpr std::size_t max_calls = 64;  ///< later accesses wait until one ends

    /// A transaction for the foreign target; the memory manager is set.
    class call : public tlm::tlm_generic_payload {
    public:
        ~call() override;
        /// When the access begins (absolute).
        const sc_core::sc_time& start() const { return start_; }
        /// The annotated delay with which it begins, if it is sent now.
        sc_core::sc_time delay() const;
        bool is_done() const { return is_done_; }

    private:
        friend deferred_calls;
        explicit call(deferred_calls& owner);
        void forget();
        void copy(const tlm::tlm_generic_payload& original, const sc_core::sc_time& start);

        deferral asker_;
        attribution attribution_;
        std::vector<std::uint8_t> bytes_, enables_;
        sc_core::sc_time start_, end_;
        bool is_done_ = false;
    };

    /// `owner`: the bridge, for reports.
    explicit deferred_calls(const sc_core::sc_module& owner) : owner_(owner) {}

    /// To be called by b_transport with each attempt of an initiator. Returns the call that the
    /// bridge must make, which holds one reference; nullptr if there is nothing to do: the access
    /// is still deferred, or has its response, or failed because its initiator cannot wait.
    call* enter(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
    /// Takes an access that needs no response, for an initiator that cannot wait: the payload has
    /// TLM_OK_RESPONSE. Returns the call that the bridge must make, as enter() does; nullptr, with
    /// an error response: too many calls, so that the access is lost.
    call* post(tlm::tlm_generic_payload& payload, const sc_core::sc_time& delay);
    /// The target has responded; the response is valid at `end` (absolute). Wakes the initiator,
    /// and gives the bridge's reference back. The response of an abandoned access is dropped.
    /// Reports a target that leaves no response, which is an error, or another data pointer, whose
    /// data is ignored.
    void finish(call& done, const sc_core::sc_time& end);
    /// Number of calls that are not free: without a response, or with one that is not fetched.
    std::size_t open() const { return all_.size() - idle_.size(); }
    /// What the foreign target has not answered yet (describes_wait).
    std::optional<std::string> describe_wait() const;

private:
    void free(tlm::tlm_generic_payload* released) override;
    call* find(const tlm::tlm_generic_payload& payload);
    call* unused();
    void recycle(call& ended);
    void refuse(tlm::tlm_generic_payload& payload);
    void lose(tlm::tlm_generic_payload& payload);
    void check(call& answered) const;

    const sc_core::sc_module& owner_;
    std::vector<std::unique_ptr<call>> all_;
    std::vector<call*> idle_;
    deferral room_;
    bool has_refused_ = false;
    std::uint64_t lost_ = 0;
};

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "platform/framework/tlm/pending_access.h"

namespace trn::rtl {

class block;

/// An access that a design makes through a socket, from its first attempt until its response is
/// due.
class outgoing_access {
public:
    /// `wake`: notified when a deferred access can be repeated.
    explicit outgoing_access(sc_core::sc_event& wake) : pending_(wake) {}

    std::vector<std::uint8_t> bytes;
    std::vector<std::uint8_t> enables;  ///< none: all bytes

    /// The first attempt.
    void send(tlm::tlm_initiator_socket<64>& socket, tlm::tlm_command command,
              std::uint64_t address, unsigned streaming_width);
    /// Repeats a deferred access.
    void repeat(tlm::tlm_initiator_socket<64>& socket);
    void abandon() { pending_.abandon(); }

    bool is_deferred() const { return is_deferred_; }
    /// When the response is valid (absolute); not while the access is deferred.
    const sc_core::sc_time& end() const { return end_; }
    tlm::tlm_response_status response() const { return payload_.get_response_status(); }
    const tlm::tlm_generic_payload& payload() const { return payload_; }

private:
    pending_access pending_;
    tlm::tlm_generic_payload payload_;
    sc_core::sc_time end_;
    bool is_deferred_ = false;
};

/// Answers of memory to deferred accesses of a block: each starts the block's clock.
class memory_answers {
public:
    explicit memory_answers(block& owner);

    sc_core::sc_event& event() { return event_; }  ///< for outgoing_access
    /// Whether deferred accesses are to be repeated at the next edge.
    bool are_waiting() const { return are_waiting_; }
    /// The same, and they are repeated, or given up.
    bool take() { return std::exchange(are_waiting_, false); }

private:
    sc_core::sc_event event_;
    bool are_waiting_ = false;
};

/// The backward path of an initiator that uses no pointers.
class blocking_initiator : public tlm::tlm_bw_transport_if<> {
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase&,
                                       sc_core::sc_time&) override {
        return tlm::TLM_COMPLETED;
    }
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
};

}  // namespace trn::rtl

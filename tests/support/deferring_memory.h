// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <list>
#include <systemc>
#include <tlm>
#include <vector>

#include "platform/framework/tlm/memory.h"
#include "platform/framework/tlm/pending_access.h"
#include "platform/framework/tlm/refuse_pointer.h"
#include "platform/framework/tlm/target_socket.h"

namespace trn::test {

/// A target of this project that defers each access by `latency`, or some of them.
class deferring_memory : public sc_core::sc_module {
public:
    target_socket<deferring_memory> in{"in"};

    SC_HAS_PROCESS(deferring_memory);
    explicit deferring_memory(sc_core::sc_module_name name) : sc_module(name) {
        in.register_b_transport(this, &deferring_memory::b_transport);
        in.register_get_direct_mem_ptr(this, &deferring_memory::get_direct_mem_ptr);
        SC_METHOD(respond);
        sensitive << due_;
        dont_initialize();
    }
    sc_core::sc_time latency{30, sc_core::SC_NS}, annotated;
    std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(0x1000);
    unsigned widest = ~0u;   ///< longer accesses are burst errors, also later
    unsigned questions = 0;  ///< accesses, without their repetitions
    bool defers_reads = true;
    std::uint64_t deferred_size = 0x1000;  ///< accesses from this address on are not deferred
    bool is_memory = false;                ///< says so, though it grants no pointers
    std::size_t waiting() const { return open_.size(); }

private:
    struct question {
        sc_core::sc_time due;
        deferral asker{};
    };
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
        std::erase_if(open_, [](const question& each) { return !each.asker.is_used(); });
        const sc_core::sc_time& now = sc_core::sc_time_stamp();
        for (auto asked = open_.begin(); asked != open_.end(); ++asked) {
            if (!asked->asker.holds(payload)) continue;
            if (asked->due > now) return asked->asker.hold(payload);
            if (payload.get_data_length() > widest)
                payload.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
            else
                copy_payload(payload, bytes.data(), bytes.size());
            delay += annotated;
            open_.erase(asked);
            return;
        }
        ++questions;
        if ((payload.is_read() && !defers_reads) || payload.get_address() >= deferred_size) {
            copy_payload(payload, bytes.data(), bytes.size());
            return;
        }
        open_.emplace_back(now + delay + latency).asker.hold(payload);
        schedule();
    }
    bool get_direct_mem_ptr(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
        if (is_memory) memory_attribute::answer(payload);
        return refuse_pointer(payload, dmi);
    }
    void respond() {
        for (const question& each : open_)
            if (each.due <= sc_core::sc_time_stamp()) each.asker.wake();
        schedule();
    }
    void schedule() {
        const sc_core::sc_time& now = sc_core::sc_time_stamp();
        for (const question& each : open_)
            if (each.due > now) due_.notify(each.due - now);
    }

    std::list<question> open_;
    sc_core::sc_event due_;
};

}  // namespace trn::test

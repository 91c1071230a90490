// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <list>
#include <systemc>
#include <tlm>
#include <vector>

#include "platform/framework/tlm/memory.h"
#include "platform/framework/tlm/pending_access.h"
#include "platform/framework/tlm/target_socket.h"

namespace trn::test {

/// A target of this project that defers each access by `latency`.
class deferring_memory : public sc_core::sc_module {
public:
    target_socket<deferring_memory> in{"in"};

    SC_HAS_PROCESS(deferring_memory);
    explicit deferring_memory(sc_core::sc_module_name name) : sc_module(name) {
        in.register_b_transport(this, &deferring_memory::b_transport);
        SC_METHOD(respond);
        sensitive << due_;
        dont_initialize();
    }
    sc_core::sc_time latency{30, sc_core::SC_NS}, annotated;
    std::vector<std::uint8_t> bytes = std::vector<std::uint8_t>(0x1000);
    unsigned questions = 0;  ///< accesses, without their repetitions
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
            copy_payload(payload, bytes.data(), bytes.size());
            delay += annotated;
            open_.erase(asked);
            return;
        }
        ++questions;
        open_.emplace_back(now + delay + latency).asker.hold(payload);
        schedule();
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

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <cstdlib>
#include <list>
#include <optional>
#include <random>
#include <string_view>
#include <systemc>
#include <tlm>

#include "platform/framework/tlm/pending_access.h"
#include "platform/framework/tlm/refuse_pointer.h"

namespace trn::test {

/// Whether tests run over memory that defers accesses (see memory_path); CTest runs them both ways.
inline bool memory_is_slow() {
    const char* const chosen = std::getenv("TRNVP_TEST_MEMORY");
    return chosen != nullptr && std::string_view(chosen) == "slow";
}

/// Connects an initiator to its memory. If memory is slow, it grants no pointers, and defers each
/// access of an initiator that can wait by 1 to 60 ns, as host memory that is accessed by
/// messages does.
class memory_path : public sc_core::sc_module {
public:
    tlm_utils::simple_target_socket<memory_path, 64> in{"in"};
    tlm_utils::simple_initiator_socket<memory_path, 64> out{"out"};

    SC_HAS_PROCESS(memory_path);
    explicit memory_path(sc_core::sc_module_name name) : sc_module(name) {
        in.register_b_transport(this, &memory_path::transport);
        in.register_transport_dbg(this, &memory_path::peek);
        in.register_get_direct_mem_ptr(this, &memory_path::request_pointer);
        out.register_invalidate_direct_mem_ptr(this, &memory_path::invalidate);
        SC_METHOD(wake);
        sensitive << due_;
        dont_initialize();
    }
    /// Defers accesses to [first, first + size) until respond().
    void hold(std::uint64_t first, std::uint64_t size) {
        held_ = {first, size};
        invalidate(0, ~std::uint64_t{0});
    }
    /// Number of accesses that wait.
    std::size_t waiting() const {
        return static_cast<std::size_t>(std::ranges::count_if(
            open_, [](const question& each) { return each.asker.is_used(); }));
    }
    /// Responds to the accesses that wait.
    void respond() {
        for (question& each : open_) each.due = sc_core::sc_time_stamp();
        due_.notify(sc_core::SC_ZERO_TIME);
    }
    /// Ends hold().
    void release() {
        held_ = {};
        respond();
    }

private:
    struct question {
        sc_core::sc_time due;
        deferral asker{};
    };

    bool is_direct() const { return !slow_ && held_.size == 0; }
    void transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
        if (!is_direct() && must_wait(payload)) return;
        out->b_transport(payload, delay);
        if (!is_direct()) payload.set_dmi_allowed(false);
    }
    /// Defers an access until it is due. Memory may defer it again.
    bool must_wait(tlm::tlm_generic_payload& payload) {
        const auto* const access = payload.get_extension<pending_access>();
        if (access == nullptr) return false;
        std::erase_if(open_, [](const question& each) { return !each.asker.is_used(); });
        const sc_core::sc_time now = sc_core::sc_time_stamp();
        auto found = std::ranges::find_if(
            open_, [&](const question& each) { return each.asker.holds(payload); });
        if (found == open_.end()) {
            const bool is_held = payload.get_address() - held_.first < held_.size;
            if (access->is_repeated() || !(slow_ || is_held)) return false;
            const sc_core::sc_time wait(static_cast<double>(1 + random_() % 60), sc_core::SC_NS);
            found = open_.emplace(open_.end(), is_held ? sc_core::sc_max_time() : now + wait);
            if (!is_held) due_.notify(wait);
        } else if (found->due <= now) {
            return false;
        }
        found->asker.hold(payload);
        return true;
    }
    void wake() {
        const sc_core::sc_time now = sc_core::sc_time_stamp();
        sc_core::sc_time next = sc_core::sc_max_time();
        for (const question& each : open_) {
            if (each.due <= now)
                each.asker.wake();
            else
                next = std::min(next, each.due);
        }
        if (next != sc_core::sc_max_time()) due_.notify(next - now);
    }
    unsigned peek(tlm::tlm_generic_payload& payload) { return out->transport_dbg(payload); }
    bool request_pointer(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
        if (!is_direct()) return refuse_pointer(payload, dmi);
        return out->get_direct_mem_ptr(payload, dmi);
    }
    void invalidate(sc_dt::uint64 first, sc_dt::uint64 last) {
        in->invalidate_direct_mem_ptr(first, last);
    }

    struct {
        std::uint64_t first = 0, size = 0;
    } held_;
    const bool slow_ = memory_is_slow();
    std::list<question> open_;
    std::minstd_rand random_;
    sc_core::sc_event due_;
};

/// Connects an initiator to its memory: through `path` if memory is slow.
template <class Initiator, class Target>
void bind_memory(Initiator& initiator, Target& target, std::optional<memory_path>& path) {
    if (!memory_is_slow()) return initiator.bind(target);
    path.emplace(sc_core::sc_gen_unique_name("path"));
    initiator.bind(path->in);
    path->out.bind(target);
}

}  // namespace trn::test

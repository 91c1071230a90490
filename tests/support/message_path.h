// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <random>
#include <span>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "models/pcie/root_complex/host_memory.h"
#include "platform/framework/tlm/refuse_pointer.h"

namespace trn::test {

/// Connects a card to its host's memory: directly, or by messages as a vfio-user client that shares
/// no memory. The client accepts 8 messages at a time, handles them after up to 500 ns each, and
/// answers reads in any order, but not before earlier writes.
class message_path : public sc_core::sc_module, private host_messages {
public:
    tlm_utils::simple_target_socket<message_path, 64> in{"in"};
    tlm_utils::simple_initiator_socket<message_path, 64> out{"out"};

    SC_HAS_PROCESS(message_path);
    explicit message_path(sc_core::sc_module_name name) : sc_module(name) {
        in.register_b_transport(this, &message_path::transport);
        in.register_transport_dbg(this, &message_path::peek);
        in.register_get_direct_mem_ptr(this, &message_path::request_pointer);
        out.register_invalidate_direct_mem_ptr(this, &message_path::invalidate);
        SC_METHOD(handle);
        sensitive << due_;
        dont_initialize();
    }
    /// Starts with a new client: all earlier messages are lost.
    void attach(bool by_messages) {
        by_messages_ = by_messages;
        refused_ = 0;
        detach();
        map();
        memory_.carry(by_messages ? this : nullptr);
        invalidate(0, end);
    }
    /// The client leaves; accesses fail until attach().
    void detach() {
        memory_.carry(nullptr);
        queue_.clear();
        memory_.unmap(0, end, [](const auto&) {});
    }
    /// The client unmaps its memory while accesses wait, and maps it again.
    void remap() {
        memory_.unmap(0, end, [](const auto&) {});
        map();
    }
    /// The client refuses the next `count` reads.
    void refuse(unsigned count) { refused_ = count; }

private:
    static constexpr std::uint64_t end = std::numeric_limits<std::uint64_t>::max();
    static constexpr std::size_t max_messages = 8;

    struct message {
        sc_core::sc_time due;
        std::uint64_t address;
        std::vector<std::uint8_t> bytes;  // of a write; room for those of a read
        answer answered;                  // empty: a write
    };

    void map() { memory_.map({0, std::uint64_t{1} << 62, nullptr, true, true}); }
    void transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) {
        if (by_messages_)
            memory_.transport(payload);
        else
            out->b_transport(payload, delay);
    }
    unsigned peek(tlm::tlm_generic_payload& payload) { return out->transport_dbg(payload); }
    bool request_pointer(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& dmi) {
        if (by_messages_) return refuse_pointer(payload, dmi);
        return out->get_direct_mem_ptr(payload, dmi);
    }
    void invalidate(sc_dt::uint64 first, sc_dt::uint64 last) {
        in->invalidate_direct_mem_ptr(first, last);
    }

    bool read(std::uint64_t iova, std::uint32_t size, answer answered) override {
        return add({{}, iova, std::vector<std::uint8_t>(size), std::move(answered)});
    }
    bool write(std::uint64_t iova, std::span<const std::uint8_t> bytes) override {
        return add({{}, iova, {bytes.begin(), bytes.end()}, {}});
    }
    bool add(message added) {
        if (queue_.size() == max_messages) {
            is_full_ = true;
            return false;
        }
        const sc_core::sc_time now = sc_core::sc_time_stamp();
        added.due = now + sc_core::sc_time(static_cast<double>(random_() % 500), sc_core::SC_NS);
        for (const message& each : queue_)  // a read passes reads only
            if (!added.answered || !each.answered) added.due = std::max(added.due, each.due);
        due_.notify(added.due - now);
        queue_.push_back(std::move(added));
        return true;
    }
    void handle() {
        const sc_core::sc_time now = sc_core::sc_time_stamp();
        std::vector<message> ready;
        for (auto entry = queue_.begin(); entry != queue_.end();) {
            if (entry->due > now) {
                ++entry;
                continue;
            }
            ready.push_back(std::move(*entry));
            entry = queue_.erase(entry);
        }
        for (message& each : ready) {
            const bool held = access(each);
            if (!each.answered) continue;
            const bool refused = refused_ > 0 && refused_-- > 0;
            each.answered(held && !refused ? std::span<const std::uint8_t>(each.bytes)
                                           : std::span<const std::uint8_t>());
        }
        if (std::exchange(is_full_, false)) memory_.carrier_ready();
        sc_core::sc_time next = sc_core::sc_max_time();
        for (const message& each : queue_) next = std::min(next, each.due);
        if (!queue_.empty()) due_.notify(next - now);
    }
    bool access(message& entry) {
        tlm::tlm_generic_payload payload;
        payload.set_command(entry.answered ? tlm::TLM_READ_COMMAND : tlm::TLM_WRITE_COMMAND);
        payload.set_address(entry.address);
        payload.set_data_ptr(entry.bytes.data());
        payload.set_data_length(static_cast<unsigned>(entry.bytes.size()));
        payload.set_streaming_width(payload.get_data_length());
        return out->transport_dbg(payload) == entry.bytes.size();
    }

    pcie::host_memory memory_;
    bool by_messages_ = false, is_full_ = false;
    unsigned refused_ = 0;
    std::deque<message> queue_;
    std::minstd_rand random_;
    sc_core::sc_event due_;
};

/// An action of a hostile client while its card waits for memory.
template <class Random>
void disturb(message_path& path, Random& random) {
    switch (random.below(4)) {
    case 0:
        return path.remap();
    case 1:
        return path.refuse(static_cast<unsigned>(1 + random.below(4)));
    case 2:
        path.detach();
        [[fallthrough]];
    default:
        return path.attach(random.below(2) == 0);
    }
}

}  // namespace trn::test

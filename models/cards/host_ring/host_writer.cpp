// SPDX-License-Identifier: Apache-2.0
#include "models/cards/host_ring/host_writer.h"

#include <algorithm>
#include <utility>

namespace trn {

using sc_core::sc_time;

namespace {
constexpr std::uint32_t head_bytes = 8;
}

host_writer::host_writer(sc_core::sc_module_name name, tlm::tlm_initiator_socket<64>& bus)
    : sc_module(name), memory_(bus) {
    SC_METHOD(run);
    sensitive << due_;
    dont_initialize();
}

void host_writer::post(const sc_time& time, std::uint64_t address,
                       std::span<const std::uint8_t> bytes, then done) {
    sc_assert(bytes.size() <= max_bytes);
    const sc_time now = sc_core::sc_time_stamp();
    write added;
    added.address = address;
    std::ranges::copy(bytes, added.bytes.begin());
    added.length = static_cast<std::uint32_t>(bytes.size());
    added.done = std::move(done);
    if (trace::on()) added.cause = trace::current_operation();
    writes_.emplace(std::max(time, now), std::move(added));
    due_.notify(std::max(writes_.begin()->first, now) - now);
}

void host_writer::abandon() {
    writes_.clear();
    pending_.abandon();
}

void host_writer::drop(std::uint64_t first, std::uint64_t last) {
    if (writes_.empty()) return;
    const auto is_in_range = [=](const auto& each) {
        return first <= each.second.address && each.second.address <= last;
    };
    if (is_in_range(*writes_.begin())) pending_.abandon();
    std::erase_if(writes_, is_in_range);
    due_.notify(sc_core::SC_ZERO_TIME);
}

/// Writes all entries that are due.
void host_writer::run() {
    while (!writes_.empty() && writes_.begin()->first <= sc_core::sc_time_stamp()) {
        const auto first = writes_.begin();
        const trace::on_behalf_of cause(first->second.cause);
        const auto outcome = put(first->second);
        if (outcome == memory_port::outcome::deferred) return;
        const then done = std::move(first->second.done);
        writes_.erase(first);
        if (done) done(outcome == memory_port::outcome::done);
    }
    if (!writes_.empty()) due_.notify(writes_.begin()->first - sc_core::sc_time_stamp());
}

memory_port::outcome host_writer::put(write& request) {
    const std::uint32_t head = std::min(request.length, head_bytes);
    if (request.length > head && !request.tail_written) {
        const auto outcome =
            put(request.address + head, request.bytes.data() + head, request.length - head);
        if (outcome != memory_port::outcome::done) return outcome;
        request.tail_written = true;
    }
    return put(request.address, request.bytes.data(), head);
}

memory_port::outcome host_writer::put(std::uint64_t address, std::uint8_t* bytes,
                                      std::uint32_t length) {
    sc_time delay;
    return memory_.access(tlm::TLM_WRITE_COMMAND, address, bytes, length, pending_, delay);
}

}  // namespace trn

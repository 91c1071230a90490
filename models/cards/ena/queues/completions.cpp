// SPDX-License-Identifier: Apache-2.0
#include "models/cards/ena/queues/completions.h"

#include <algorithm>
#include <utility>

namespace trn::ena_queues {

namespace regs = ena_io_regs;

void completions::sent(std::uint16_t queue, std::uint16_t request) {
    const auto* const source = find(queues_.submissions, queue);
    if (source == nullptr) return;
    io_entry entry;
    entry.set(regs::tx_done::request, request);
    entry.set(regs::tx_done_queue::sq, queue);
    entry.set(regs::tx_done_queue::head, source->taken);
    write(*source, entry, regs::tx_done::phase, 8, true);
}

void completions::received(std::uint16_t queue, std::span<const filled_buffer> buffers,
                           const io_entry& packet) {
    const auto* const source = find(queues_.submissions, queue);
    if (source == nullptr) return;
    for (std::size_t i = 0; i < buffers.size(); ++i) {
        const bool last = i + 1 == buffers.size();
        io_entry entry = last ? packet : io_entry();
        entry.set(regs::rx_done::first, i == 0);
        entry.set(regs::rx_done::last, last);
        entry.set(regs::rx_done::buffer, 1);
        entry.set(regs::rx_done_buffer::length, buffers[i].length);
        entry.set(regs::rx_done_buffer::request, buffers[i].request);
        entry.set(regs::rx_done_queue::sq, queue);
        write(*source, entry, regs::rx_done::phase, 16, last);
    }
}

void completions::write(const submission_queue& source, io_entry entry, register_field phase,
                        std::uint32_t bytes, bool announces) {
    auto* const target = find(queues_.completions, source.completions);
    if (target == nullptr) return;
    if (lost_ > 0) {
        --lost_;
        return;
    }
    // Memory has accepted no entry for a whole ring: this one would overwrite the first of them.
    if (target->unwritten == target->ring.depth()) return;
    ++target->unwritten;
    ++count_;
    const auto slot = target->ring.next();
    entry.set(phase, slot.phase);
    const std::uint32_t size = std::min(bytes, target->ring.entry_size());
    writer_.post(sc_core::sc_time_stamp(), slot.address, entry.bytes().first(size),
                 [this, number = source.completions, announces, way = source.way](bool) {
                     auto* const queue = find(queues_.completions, number);
                     if (queue == nullptr) return;
                     --queue->unwritten;
                     if (announces && queue->interrupts) interrupts_.completed(queue->vector, way);
                 });
}

}  // namespace trn::ena_queues

// SPDX-License-Identifier: Apache-2.0
#include "models/cards/ena/queues/transmitter.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "platform/framework/kernel/trace.h"

namespace trn::ena_queues {

namespace regs = ena_io_regs;
using sc_core::sc_time;

transmitter::transmitter(sc_core::sc_module_name name, const sc_time& processing,
                         const memories& memory, queues& all, completions& posted, wire& port)
    : work_loop(name, memory.bus),
      processing_(processing),
      entries_(memory.entries),
      queues_(all),
      completions_(posted),
      port_(port) {}

void transmitter::posted(std::uint16_t queue, std::uint16_t count) {
    auto* const found = find(queues_.submissions, queue);
    if (found != nullptr && found->way == direction::transmit && found->post(count)) wake();
}

void transmitter::removed(std::uint16_t queue) {
    incomplete_.erase(queue);
    if (!job_ || job_->queue != queue) return;
    job_.reset();
    abandon_access();
    wake();
}

void transmitter::forget() {
    job_.reset();
    incomplete_.clear();
    stop();
}

transmitter::progress transmitter::advance() {
    if (!job_ && !choose()) return progress::idle;
    if (!job_->described) return describe();
    if (!job_->leaves) return fill();
    if (*job_->leaves > sc_core::sc_time_stamp()) return progress::waiting;
    finish();
    return progress::moved;
}

/// Selects the next queue with descriptors, in round-robin order.
bool transmitter::choose() {
    const auto has_work = [](const auto& each) {
        return each.second.way == direction::transmit && each.second.available() != 0;
    };
    auto& all = queues_.submissions;
    auto next = std::find_if(all.upper_bound(turn_), all.end(), has_work);
    if (next == all.end()) next = std::find_if(all.begin(), all.end(), has_work);
    if (next == all.end()) return false;
    turn_ = next->first;
    const sc_time now = sc_core::sc_time_stamp();
    if (auto begun = incomplete_.extract(turn_); !begun.empty()) {
        job_ = std::move(begun.mapped());
        job_->ready = std::max(job_->ready, now);
        return true;
    }
    job_ = job();
    job_->queue = turn_;
    job_->ready = now + processing_;
    return true;
}

transmitter::progress transmitter::describe() {
    auto& queue = *find(queues_.submissions, job_->queue);
    if (queue.available() == 0) {
        incomplete_.emplace(job_->queue, std::move(*job_));
        job_.reset();
        return progress::moved;
    }
    if (!queue.in_card) return read_descriptor(queue);
    take_entry(queue);
    return progress::moved;
}

transmitter::progress transmitter::read_descriptor(submission_queue& queue) {
    io_entry descriptor;
    sc_time delay;
    const auto outcome =
        access(tlm::TLM_READ_COMMAND, queue.descriptor(), descriptor.words().data(),
               submission_queue::descriptor_bytes, delay);
    if (outcome == memory_port::outcome::deferred) return progress::blocked;
    job_->ready += delay;
    if (outcome == memory_port::outcome::failed) {  // the ring is not in memory
        queue.taken = queue.posted;
        ++queues_.counters.tx_drops;
        job_.reset();
        return progress::moved;
    }
    ++queue.taken;
    take(queue, descriptor);
    return progress::moved;
}

/// Takes all descriptors of an entry, up to the packet's last one.
void transmitter::take_entry(submission_queue& queue) {
    const auto entry = entries_.subspan(queue.entry(), card_entry::bytes);
    const bool begins = job_->descriptors == 0;
    const unsigned count = begins ? card_entry::descriptors_before_header : card_entry::descriptors;
    ++queue.taken;
    for (unsigned i = 0; i < count && !job_->described; ++i) {
        io_entry descriptor;
        std::memcpy(descriptor.words().data(), &entry[i * submission_queue::descriptor_bytes],
                    submission_queue::descriptor_bytes);
        take(queue, descriptor);
    }
    if (!begins || job_->header_length == 0) return;
    const auto header = entry.subspan(count * submission_queue::descriptor_bytes);
    job_->refused = job_->refused || job_->header_length > header.size();
    if (!job_->refused) job_->header.assign(header.begin(), header.begin() + job_->header_length);
}

/// Takes a descriptor. A packet with too many descriptors or bytes is read to its end, then
/// dropped.
void transmitter::take(submission_queue& queue, const io_entry& descriptor) {
    job& task = *job_;
    task.refused = task.refused || ++task.descriptors > limits::max_tx_descriptors;
    task.described = descriptor.get(regs::tx::last) != 0;
    if (descriptor.get(regs::tx::meta) != 0) return take_meta(queue, descriptor);
    if (!task.request) take_first(queue, descriptor);
    const std::uint32_t bytes = descriptor.get(regs::tx::length);
    task.length += bytes;
    task.refused = task.refused || task.length > max_bytes();
    if (task.refused || bytes == 0) return;
    task.buffers.push_back({descriptor.get(regs::reg::tx_buffer_lo) |
                                std::uint64_t{descriptor.get(regs::tx_buffer_hi::address)} << 32,
                            bytes});
}

/// Takes a meta descriptor. Stored meta data also applies to later packets of the queue.
void transmitter::take_meta(submission_queue& queue, const io_entry& descriptor) {
    const auto segment =
        descriptor.get(regs::meta::mss_hi) << 10 | descriptor.get(regs::meta_headers::mss_lo);
    job_->wanted.segment = segment;
    if (descriptor.get(regs::meta::store) != 0) queue.segment = segment;
}

void transmitter::take_first(const submission_queue& queue, const io_entry& descriptor) {
    namespace word = regs::tx_meta;
    job& task = *job_;
    task.request = static_cast<std::uint16_t>(descriptor.get(regs::tx::request_hi) << 10 |
                                              descriptor.get(word::request_lo));
    if (queue.in_card)
        task.length = task.header_length = descriptor.get(regs::tx_buffer_hi::header_length);
    task.wanted = {.header_checksum = descriptor.get(word::l3_checksum) != 0,
                   .payload_checksum = descriptor.get(word::l4_checksum) != 0,
                   .partial = descriptor.get(word::l4_partial) != 0,
                   .segmentation = descriptor.get(word::tso) != 0,
                   .segment = task.wanted.segment != 0 ? task.wanted.segment : queue.segment};
}

std::uint64_t transmitter::max_bytes() const {
    return (job_->wanted.segmentation ? limits::max_segmented : queues_.mtu) +
           limits::link_header_bytes;
}

transmitter::progress transmitter::fill() {
    job& task = *job_;
    if (!task.packet) {
        task.packet = std::make_unique<ethernet::packet>();
        if (!task.refused) {
            task.packet->bytes.reserve(task.length);
            task.packet->bytes = std::move(task.header);
        }
    }
    if (task.refused || task.buffer_now == task.buffers.size()) {
        send();
        return progress::moved;
    }
    const buffer& source = task.buffers[task.buffer_now];
    const std::uint32_t length = std::min(source.bytes - task.done, limits::max_access);
    auto& bytes = task.packet->bytes;
    const auto filled = bytes.size();
    bytes.resize(filled + length);
    sc_time delay;
    const auto outcome = access(tlm::TLM_READ_COMMAND, source.address + task.done,
                                bytes.data() + filled, length, delay);
    if (outcome == memory_port::outcome::deferred) {
        bytes.resize(filled);
        return progress::blocked;
    }
    task.ready += delay;
    task.refused = outcome == memory_port::outcome::failed;
    task.done += length;
    if (task.done == source.bytes) {
        ++task.buffer_now;
        task.done = 0;
    }
    return progress::moved;
}

void transmitter::send() {
    job& task = *job_;
    auto& counters = queues_.counters;
    const bool whole =
        !task.refused && task.packet->bytes.size() >= ethernet::packet::min_bytes && port_.up();
    std::vector<std::unique_ptr<ethernet::packet>> packets;
    if (whole) packets = apply_offloads(task.wanted, std::move(task.packet));
    task.leaves = sc_core::sc_time_stamp();
    if (packets.empty() ||
        packets.front()->bytes.size() > queues_.mtu + limits::link_header_bytes) {
        ++counters.tx_drops;
        return;
    }
    for (auto& each : packets) {
        const auto bytes = each->bytes.size();
        ++counters.tx_packets;
        counters.tx_bytes += bytes;
        if (trace::on()) trace::event(name(), "send", {{"queue", task.queue}, {"bytes", bytes}});
        task.leaves = port_.send(std::move(each), task.ready);
    }
}

void transmitter::finish() {
    if (job_->request) completions_.sent(job_->queue, *job_->request);
    job_.reset();
}

}  // namespace trn::ena_queues

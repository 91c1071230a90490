// SPDX-License-Identifier: Apache-2.0
#include "models/cards/ena/queues/receiver.h"

#include <algorithm>
#include <utility>

#include "models/cards/ena/queues/packet_report.h"
#include "platform/framework/kernel/trace.h"
#include "platform/framework/tlm/bandwidth_resource.h"

namespace trn::ena_queues {

namespace regs = ena_io_regs;
using sc_core::sc_time;

namespace {
constexpr std::uint32_t max_buffer = 65536;
}

receiver::receiver(sc_core::sc_module_name name, const sc_time& processing,
                   tlm::tlm_initiator_socket<64>& bus, queues& all, completions& posted)
    : work_loop(name, bus), processing_(processing), queues_(all), completions_(posted) {}

void receiver::arrived(std::unique_ptr<ethernet::packet> packet) {
    const auto bytes = packet->bytes.size();
    if (bytes > queues_.mtu + limits::link_header_bytes || waiting_bytes_ + bytes > max_waiting) {
        ++queues_.counters.rx_drops;
        return;
    }
    waiting_bytes_ += bytes;
    const bool timed = timing() == timing_mode::contended;
    packets_.push_back({sc_core::sc_time_stamp() + (timed ? processing_ : sc_core::SC_ZERO_TIME),
                        std::move(packet)});
    if (packets_.size() == 1) wake();
}

void receiver::posted(std::uint16_t queue, std::uint16_t count) {
    auto* const found = find(queues_.submissions, queue);
    if (found != nullptr && found->way == direction::receive) found->post(count);
}

void receiver::removed(std::uint16_t queue) {
    if (!job_ || job_->queue != queue) return;
    drop();
    abandon_access();
    wake();
}

void receiver::forget() {
    packets_.clear();
    waiting_bytes_ = 0;
    job_.reset();
    stop();
}

receiver::progress receiver::advance() {
    if (packets_.empty()) return progress::idle;
    if (packets_.front().due > sc_core::sc_time_stamp()) return progress::waiting;
    if (!job_ && !choose()) {
        drop();
        return progress::moved;
    }
    auto& queue = *find(queues_.submissions, job_->queue);
    const auto bytes = packets_.front().packet->bytes.size();
    if (job_->room < bytes) return describe(queue);
    if (job_->written < bytes) return write(queue);
    finish(queue);
    return progress::moved;
}

/// Selects the queue from RSS's table; if it is no receive queue, the
/// receive queue with the lowest number.
bool receiver::choose() {
    const auto receives = [](const auto& each) { return each.second.way == direction::receive; };
    const auto& all = queues_.submissions;
    const auto& rss = queues_.rss;
    const io_entry report = report_on(packets_.front().packet->bytes, rss.key);
    auto chosen = all.end();
    if (!rss.table.empty())
        chosen = all.find(rss.table[report.get(regs::reg::rx_done_hash) & (rss.table.size() - 1)]);
    if (chosen == all.end() || !receives(*chosen)) chosen = std::ranges::find_if(all, receives);
    if (chosen == all.end()) return false;
    job_ = job();
    job_->report = report;
    job_->queue = chosen->first;
    return true;
}

receiver::progress receiver::describe(submission_queue& queue) {
    const auto n = static_cast<std::uint16_t>(job_->buffers.size());
    if (n == limits::max_rx_descriptors || n >= queue.available()) {
        drop();
        return progress::moved;
    }
    io_entry descriptor;
    sc_time delay;
    const auto outcome =
        access(tlm::TLM_READ_COMMAND, queue.descriptor(n), descriptor.words().data(),
               submission_queue::descriptor_bytes, delay);
    if (outcome == memory_port::outcome::deferred) return progress::blocked;
    if (outcome == memory_port::outcome::failed) {
        // The ring is not in memory, or the host is gone.
        queue.posted = queue.taken;
        drop();
        return progress::moved;
    }
    const std::uint32_t length = descriptor.get(regs::rx::length);
    job_->buffers.push_back(
        {descriptor.get(regs::reg::rx_buffer_lo) |
             std::uint64_t{descriptor.get(regs::rx_buffer_hi::address)} << 32,
         length == 0 ? max_buffer : length,
         static_cast<std::uint16_t>(descriptor.get(regs::rx_request::request))});
    job_->room += job_->buffers.back().bytes;
    return progress::moved;
}

receiver::progress receiver::write(submission_queue& queue) {
    job& task = *job_;
    auto& bytes = packets_.front().packet->bytes;
    const buffer& target = task.buffers[task.buffer_now];
    const auto length = static_cast<std::uint32_t>(std::min<std::uint64_t>(
        {limits::max_access, target.bytes - task.in_buffer, bytes.size() - task.written}));
    sc_time delay;
    const auto outcome = access(tlm::TLM_WRITE_COMMAND, target.address + task.in_buffer,
                                bytes.data() + task.written, length, delay);
    if (outcome == memory_port::outcome::deferred) return progress::blocked;
    if (outcome == memory_port::outcome::failed) {
        // Skip the buffers.
        queue.taken = static_cast<std::uint16_t>(queue.taken + task.buffers.size());
        drop();
        return progress::moved;
    }
    task.written += length;
    task.in_buffer += length;
    if (task.in_buffer == target.bytes || task.written == bytes.size()) {
        task.filled.push_back({target.request, static_cast<std::uint16_t>(task.in_buffer)});
        ++task.buffer_now;
        task.in_buffer = 0;
    }
    return progress::moved;
}

void receiver::finish(submission_queue& queue) {
    const auto bytes = packets_.front().packet->bytes.size();
    ++queues_.counters.rx_packets;
    queues_.counters.rx_bytes += bytes;
    if (trace::on()) trace::event(name(), "receive", {{"queue", job_->queue}, {"bytes", bytes}});
    queue.taken = static_cast<std::uint16_t>(queue.taken + job_->buffers.size());
    completions_.received(job_->queue, job_->filled, job_->report);
    remove_first();
}

void receiver::drop() {
    ++queues_.counters.rx_drops;
    remove_first();
}

void receiver::remove_first() {
    waiting_bytes_ -= packets_.front().packet->bytes.size();
    packets_.pop_front();
    job_.reset();
}

}  // namespace trn::ena_queues

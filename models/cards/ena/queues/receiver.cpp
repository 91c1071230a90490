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
                   tlm::tlm_initiator_socket<64>& bus, queues& of, completions& to)
    : work_loop(name, bus), processing_(processing), queues_(of), completions_(to) {}

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
    auto* const of = find(queues_.submissions, queue);
    if (of != nullptr && of->way == direction::receive) of->post(count);
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

sc_time receiver::next_due() const {
    return packets_.front().due;
}

receiver::progress receiver::advance() {
    if (packets_.empty()) return progress::idle;
    if (packets_.front().due > sc_core::sc_time_stamp()) return progress::waiting;
    if (!job_ && !choose()) {
        drop();
        return progress::moved;
    }
    auto& of = *find(queues_.submissions, job_->queue);
    const auto bytes = packets_.front().packet->bytes.size();
    if (job_->room < bytes) return describe(of);
    if (job_->written < bytes) return write(of);
    finish(of);
    return progress::moved;
}

/// Selects the queue from RSS's table; if it is no receive queue, the one with the lowest number.
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
    job_.emplace();
    job_->report = report;
    job_->queue = chosen->first;
    return true;
}

receiver::progress receiver::describe(submission_queue& of) {
    const auto n = static_cast<std::uint16_t>(job_->buffers.size());
    if (n == limits::max_rx_descriptors || n >= of.available()) {
        drop();
        return progress::moved;
    }
    io_entry descriptor;
    sc_time delay;
    const auto how = access(tlm::TLM_READ_COMMAND, of.descriptor(n), descriptor.words().data(),
                            submission_queue::descriptor_bytes, delay);
    if (how == memory_port::outcome::deferred) return progress::blocked;
    if (how == memory_port::outcome::failed) {  // the ring is not in memory, or the host is gone
        of.posted = of.taken;
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

receiver::progress receiver::write(submission_queue& of) {
    job& to = *job_;
    auto& bytes = packets_.front().packet->bytes;
    const buffer& into = to.buffers[to.buffer_now];
    const auto length = static_cast<std::uint32_t>(std::min<std::uint64_t>(
        {limits::max_access, into.bytes - to.in_buffer, bytes.size() - to.written}));
    sc_time delay;
    const auto how = access(tlm::TLM_WRITE_COMMAND, into.address + to.in_buffer,
                            bytes.data() + to.written, length, delay);
    if (how == memory_port::outcome::deferred) return progress::blocked;
    if (how == memory_port::outcome::failed) {
        of.taken = static_cast<std::uint16_t>(of.taken + to.buffers.size());  // skip the buffers
        drop();
        return progress::moved;
    }
    to.written += length;
    to.in_buffer += length;
    if (to.in_buffer == into.bytes || to.written == bytes.size()) {
        to.filled.push_back({into.request, static_cast<std::uint16_t>(to.in_buffer)});
        ++to.buffer_now;
        to.in_buffer = 0;
    }
    return progress::moved;
}

void receiver::finish(submission_queue& of) {
    const auto bytes = packets_.front().packet->bytes.size();
    ++queues_.counters.rx_packets;
    queues_.counters.rx_bytes += bytes;
    if (trace::on()) trace::event(name(), "receive", {{"queue", job_->queue}, {"bytes", bytes}});
    of.taken = static_cast<std::uint16_t>(of.taken + job_->buffers.size());
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

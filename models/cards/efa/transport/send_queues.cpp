// SPDX-License-Identifier: Apache-2.0
#include "models/cards/efa/transport/send_queues.h"

#include <cstring>
#include <optional>
#include <string_view>

namespace trn::efa_transport {

using efa_objects::queue_pair;
using efa_objects::traffic_counters;
using sc_core::sc_time;

namespace {

std::string_view text(operation op) {
    switch (op) {
    case operation::send:
        return "send";
    case operation::rdma_read:
        return "rdma_read";
    case operation::rdma_write:
        return "rdma_write";
    case operation::fast_register:
        return "fast_register";
    case operation::fast_invalidate:
        return "fast_invalidate";
    }
    return "unknown";
}

}  // namespace

send_queues::send_queues(std::string name, const send_limits& permitted,
                         std::span<const std::uint8_t> rings, efa_objects::objects& objects,
                         memory_port& memory, completions& posted, sc_core::sc_event& wake,
                         sender packets)
    : name_(std::move(name)),
      permitted_(permitted),
      rings_(rings),
      objects_(objects),
      completions_(posted),
      wake_(wake),
      sender_(std::move(packets)),
      registration_(objects, memory, wake, permitted) {}

void send_queues::posted(std::uint32_t handle, std::uint16_t count) {
    queue_pair* const qp = objects_.queue_pairs.find(handle);
    if (qp == nullptr) return;
    const auto added = static_cast<std::uint16_t>(count - qp->sends_posted);
    const auto waiting = static_cast<std::uint16_t>(count - qp->sends_fetched);
    if (waiting > qp->send_depth) return;  // count exceeds the ring: ignore the doorbell
    qp->sends_posted = count;
    if (trace::on() && added != 0) {
        auto& posted = queues_[handle].posted;
        posted.emplace_back(trace::current_or_new_operation(), added);
        const trace::on_behalf_of cause(posted.back().first);
        trace::event(name_, "doorbell", {{"queue", qp->number}, {"count", added}});
    }
    queues_.try_emplace(handle);
    wake_.notify(sc_core::SC_ZERO_TIME);
}

progress send_queues::fetch() {
    for (auto& [handle, queue] : queues_) {
        queue_pair* const qp = objects_.queue_pairs.find(handle);
        if (qp == nullptr || qp->sends_fetched == qp->sends_posted) continue;
        const bool fetches =
            qp->state == efa_objects::qp_state::rts || qp->state == efa_objects::qp_state::error;
        if (!fetches || queue.messages.size() >= qp->send_depth) continue;
        work_request source;
        const std::uint64_t place = qp->sends_fetched % qp->send_depth;
        source.bytes =
            rings_.subspan(qp->send_ring + place * qp->work_request_bytes, qp->work_request_bytes);
        std::memcpy(source.words.words().data(), source.bytes.data(), work_request_words::size);
        if (!registration_.read_pages(source.words, *qp)) return progress::blocked;
        fetch_one(handle, *qp, queue, source);
        return progress::moved;
    }
    return progress::idle;
}

void send_queues::fetch_one(std::uint32_t handle, queue_pair& qp, send_queue& queue,
                            const work_request& source) {
    ++qp.sends_fetched;
    const trace::on_behalf_of cause(queue.posted.empty() ? 0 : queue.posted.front().first);
    if (!queue.posted.empty() && --queue.posted.front().second == 0) queue.posted.pop_front();

    const std::uint64_t message = next_message_++;
    send_request& added = requests_[message];
    added.queue_pair = handle;
    added.message = message;
    queue.messages.insert(message);
    decode(source.words, qp, added);
    std::optional<status> ends;
    if (qp.state == efa_objects::qp_state::error)
        ends = status::flushed;
    else if (added.op == operation::fast_register)
        ends = registration_.enroll(source.words, qp);
    else if (added.op == operation::fast_invalidate)
        ends = registration_.withdraw(source.words, qp);
    else
        ends = decode_remote(source, qp, objects_, permitted_, added);
    registration_.forget();
    if (trace::on())
        added.slice = trace::begin(name_, text(added.op),
                                   {{"queue", qp.number},
                                    {"id", added.id},
                                    {"bytes", added.length},
                                    {"card", added.card}});
    if (ends)
        complete(message, *ends, sc_core::sc_time_stamp());
    else
        sender_.begin(added);
}

bool send_queues::stop(std::uint32_t handle, bool flushes) {
    registration_.forget(handle);
    const auto found = queues_.find(handle);
    if (found == queues_.end()) return false;
    const std::set<std::uint64_t> ended = found->second.messages;
    for (const std::uint64_t message : ended) {
        if (flushes) {
            complete(message, status::flushed, sc_core::sc_time_stamp());
            continue;
        }
        send_request& request = requests_.at(message);
        const trace::on_behalf_of cause(request.slice.operation);
        if (trace::on()) trace::end(request.slice, name_, "dropped");
        remove(message);
    }
    if (!flushes) queues_.erase(handle);
    return true;
}

void send_queues::forget() {
    for (auto& [message, request] : requests_) {
        const trace::on_behalf_of cause(request.slice.operation);
        if (trace::on()) trace::end(request.slice, name_, "dropped");
    }
    requests_.clear();
    queues_.clear();
    registration_.forget();
}

send_request* send_queues::find(std::uint64_t message) {
    const auto found = requests_.find(message);
    return found == requests_.end() ? nullptr : &found->second;
}

void send_queues::complete(std::uint64_t message, status result, const sc_time& time) {
    send_request& request = requests_.at(message);
    const trace::on_behalf_of cause(request.slice.operation);
    count(request, result);
    const queue_pair* const qp = objects_.queue_pairs.find(request.queue_pair);
    // Like verbs, reports a failed request even if it is unsignalled.
    if (qp != nullptr && (request.wants_completion || result != status::ok))
        completions_.post(
            *qp, completions::send_done{.id = request.id, .result = result, .op = request.op},
            time);
    if (trace::on())
        trace::end(request.slice, name_, "completed", {{"status", static_cast<unsigned>(result)}});
    remove(message);
    wake_.notify(sc_core::SC_ZERO_TIME);
}

void send_queues::remove(std::uint64_t message) {
    send_request& request = requests_.at(message);
    sender_.end(request);
    if (const auto queue = queues_.find(request.queue_pair); queue != queues_.end())
        queue->second.messages.erase(message);
    requests_.erase(message);
}

void send_queues::count(const send_request& request, status result) {
    ++counters_.completed;
    const bool good = result == status::ok;
    counters_.failed += !good;
    objects_.count(objects_.queue_pairs.find(request.queue_pair), [&](traffic_counters& traffic) {
        switch (request.op) {
        case operation::send:
            ++traffic.messages.sends;
            if (good) traffic.messages.send_bytes += request.length;
            return;
        case operation::rdma_read:
            ++traffic.rdma_read.requests;
            traffic.rdma_read.errors += !good;
            if (good) traffic.rdma_read.bytes += request.length;
            return;
        case operation::rdma_write:
            ++traffic.rdma_write.requests;
            traffic.rdma_write.errors += !good;
            if (good) traffic.rdma_write.bytes += request.length;
            return;
        case operation::fast_register:
        case operation::fast_invalidate:
            return;
        }
    });
}

}  // namespace trn::efa_transport

// SPDX-License-Identifier: Apache-2.0
#include "models/cards/efa/transport/completions.h"

#include <algorithm>
#include <utility>

namespace trn::efa_transport {

using efa_objects::completion_queue;
using efa_objects::event_queue;
using efa_objects::queue_pair;
using sc_core::sc_time;
namespace io = efa_io_regs;
using io::reg;

void completions::post(const queue_pair& qp, const send_done& completed, const sc_time& time) {
    entry done;
    done.set(io::completion::id, completed.id);
    done.set(io::completion::status, static_cast<std::uint64_t>(completed.result));
    done.set(io::completion::queue, io::completion::queue_send);
    done.set(io::completion::operation, static_cast<std::uint64_t>(completed.op));
    done.set(io::completion_qp::number, qp.number);
    write(qp.send_cq, done, time);
}

void completions::post(const queue_pair& qp, const receive_done& completed,
                       const srd_packet& packet, const sc_time& time) {
    const completion_queue* const queue = objects_.completion_queues.find(qp.receive_cq);
    const efa_objects::gid sender = efa_objects::gid_of(packet.source);
    const auto handle = objects_.handle_of(sender);
    entry done;
    done.set(io::completion::id, completed.id);
    done.set(io::completion::status, static_cast<std::uint64_t>(completed.result));
    done.set(io::completion::queue, io::completion::queue_receive);
    done.set(io::completion::has_immediate, packet.has_immediate);
    done.set(io::completion::operation, static_cast<std::uint64_t>(completed.op));
    done.set(io::completion::unsolicited, completed.unsolicited);
    done.set(io::completion_qp::number, qp.number);
    done.set(io::completion_qp::length, completed.length & 0xffff);
    done.set(io::completion_source::ah, handle.value_or(io::completion_source::ah_unknown));
    done.set(io::completion_source::qp, packet.source_qp);
    done.set(reg::completion_immediate, packet.immediate);
    if (completed.op == operation::rdma_write)
        done.set(reg::completion_gid_0, completed.length >> 16);
    else if (queue != nullptr && queue->source_gid && !handle)
        done.set_array(reg::completion_gid_0, sender);
    write(qp.receive_cq, done, time);
}

void completions::post_flushed_receive(const queue_pair& qp, std::uint16_t id,
                                       const sc_time& time) {
    entry done;
    done.set(io::completion::id, id);
    done.set(io::completion::status, static_cast<std::uint64_t>(status::flushed));
    done.set(io::completion::queue, io::completion::queue_receive);
    done.set(io::completion_qp::number, qp.number);
    done.set(io::completion_source::ah, io::completion_source::ah_unknown);
    write(qp.receive_cq, done, time);
}

void completions::write(std::uint16_t number, entry& record, const sc_time& time) {
    completion_queue* const queue = objects_.completion_queues.find(number);
    if (queue == nullptr) return;
    const auto slot = queue->ring.next();
    record.set(io::completion::phase, slot.phase);
    ++count_;
    // Entries become visible in ring order.
    queue->last = std::max(queue->last, time);
    writer_.post(queue->last, slot.address, record.bytes().first(queue->ring.entry_size()),
                 [this, number](bool) { is_written(number); });
}

void completions::is_written(std::uint16_t number) {
    completion_queue* const queue = objects_.completion_queues.find(number);
    if (queue == nullptr) return;
    ++queue->written;
    if (queue->armed) send_event(number);
}

void completions::consumed(std::uint16_t number, std::uint32_t written) {
    completion_queue* const queue = objects_.completion_queues.find(number);
    if (queue == nullptr) return;
    queue->consumed = static_cast<std::uint16_t>(io::cq_doorbell::consumed.get(written));
    if (io::cq_doorbell::arm.get(written) == 0 || !queue->events) return;
    queue->armed = true;
    if (queue->written != queue->consumed) send_event(number);
}

void completions::send_event(std::uint16_t number) {
    completion_queue& source = *objects_.completion_queues.find(number);
    source.armed = false;
    const std::uint16_t event_queue_number = source.event_queue;
    event_queue* const queue = objects_.event_queues.find(event_queue_number);
    if (queue == nullptr) return;
    const auto slot = queue->ring.next();
    entry event;
    event.set(io::event::phase, slot.phase);
    event.set(io::event::type, io::event::type_completion);
    event.set(io::event_cq::number, number);
    writer_.post(sc_core::sc_time_stamp(), slot.address,
                 event.bytes().first(efa_objects::limits::event_bytes),
                 [this, event_queue_number](bool) {
                     event_queue* const written = objects_.event_queues.find(event_queue_number);
                     if (written == nullptr) return;
                     written->pending = !written->armed;
                     if (std::exchange(written->armed, false)) raise_(written->vector);
                 });
}

void completions::arm_events(std::uint16_t number) {
    event_queue* const queue = objects_.event_queues.find(number);
    if (queue == nullptr) return;
    queue->armed = true;
    if (!std::exchange(queue->pending, false)) return;
    queue->armed = false;
    raise_(queue->vector);
}

}  // namespace trn::efa_transport

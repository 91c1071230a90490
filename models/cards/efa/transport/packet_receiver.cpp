// SPDX-License-Identifier: Apache-2.0
#include "models/cards/efa/transport/packet_receiver.h"

#include <algorithm>
#include <span>
#include <utility>

#include "models/cards/efa/transport/access_size.h"
#include "models/cards/efa/transport/packet_pool.h"
#include "platform/framework/kernel/trace.h"

namespace trn::efa_transport {

using efa_objects::limits;
using efa_objects::memory_access;
using efa_objects::memory_walk;
using efa_objects::queue_pair;
using efa_objects::traffic_counters;
using sc_core::sc_time;
namespace io = efa_io_regs;
using io::reg;

namespace {

/// Packets that may wait for memory. A datagram beyond them is lost; the senders of others wait for
/// responses.
constexpr std::size_t max_waiting = 1024;

void count_arrival(const srd_packet& train, traffic_counters& traffic) {
    traffic.basic.rx_packets += train.present();
    traffic.basic.rx_bytes += train.present_share(train.bytes);
}

}  // namespace

packet_receiver::packet_receiver(sc_core::sc_module_name name, tlm::tlm_initiator_socket<64>& bus,
                                 efa_objects::objects& objects, packet_sender& sender,
                                 completions& posted)
    : sc_module(name), memory_(bus), objects_(objects), sender_(sender), completions_(posted) {
    SC_METHOD(run);
    sensitive << arrival_;
    dont_initialize();
}

void packet_receiver::arrived(std::unique_ptr<srd_packet> packet) {
    if (packet->datagram && queue_.size() >= max_waiting) {
        objects_.count(objects_.by_number(packet->destination_qp), [&](traffic_counters& traffic) {
            traffic.basic.rx_drops += packet->present();
        });
        return packet_pool::give(std::move(packet));
    }
    queue_.push_back(std::move(packet));
    arrival_.notify(sc_core::SC_ZERO_TIME);
}

void packet_receiver::posted(std::uint32_t handle, std::uint16_t count) {
    queue_pair* const qp = objects_.queue_pairs.find(handle);
    if (qp == nullptr) return;
    const auto waiting = static_cast<std::uint16_t>(count - qp->receives_taken);
    if (waiting > qp->receive_depth) return;  // count exceeds the ring: ignore the doorbell
    qp->receives_posted = count;
    if (qp->state == efa_objects::qp_state::error) stop(handle, true);
}

void packet_receiver::stop(std::uint32_t handle, bool flushes) {
    arrival_.notify(sc_core::SC_ZERO_TIME);
    const auto found = std::ranges::find(flushing_, handle);
    if (flushes) {
        if (found == flushing_.end()) flushing_.push_back(handle);
        return;
    }
    if (found != flushing_.end()) {
        if (found == flushing_.begin()) end_flush();
        flushing_.erase(found);
    }
    // A train for this queue pair is checked again, and refused.
    if (!queue_.empty() && queue_.front()->destination_qp % limits::max_qp == handle) end_train();
}

void packet_receiver::forget() {
    queue_.clear();
    end_train();
    flushing_.clear();
    end_flush();
    arrivals_.clear();
}

void packet_receiver::run() {
    while (!queue_.empty() || !flushing_.empty()) {
        if (queue_.empty()) {
            if (flush() == progress::deferred) return;
            continue;
        }
        srd_packet& packet = *queue_.front();
        const trace::on_behalf_of cause(packet.cause);
        if (take(packet) == progress::deferred) return;
        if (!queue_.empty()) queue_.pop_front();
        end_train();
    }
}

void packet_receiver::end_train() {
    now_ = {};
    pending_.abandon();
}

void packet_receiver::end_flush() {
    flushed_ = {};
    pending_flush_.abandon();
}

packet_receiver::progress packet_receiver::take(srd_packet& packet) {
    if (!now_.checked && packet.is_numbered()) {
        switch (arrivals_.check(packet)) {
        case arrivals::state::over:
            return progress::done;
        case arrivals::state::repeated:
            respond(arrivals_.result(packet), sc_core::sc_time_stamp());
            return progress::done;
        case arrivals::state::fresh:
            now_.checked = true;
        }
    }
    switch (packet.type) {
    case srd_packet::kind::send:
        return take_send(packet);
    case srd_packet::kind::write:
        return take_write(packet);
    case srd_packet::kind::read_response:
        return take_response(packet);
    case srd_packet::kind::response:
        sender_.responded(std::move(queue_.front()));
        return progress::done;
    case srd_packet::kind::read_request:
        return take_read(packet);
    }
    return progress::done;
}

// --- checks ---

/// Turns the present packet into its response.
void packet_receiver::respond(status result, const sc_time& ready) {
    arrivals_.add(*queue_.front(), result);
    sender_.respond(std::move(queue_.front()), result, ready);
}

void packet_receiver::refuse(const srd_packet& packet, status why) {
    if (!packet.datagram) respond(why, sc_core::sc_time_stamp());
}

queue_pair* packet_receiver::admitted_to(const srd_packet& packet) {
    queue_pair* const qp = objects_.by_number(packet.destination_qp);
    const bool is_datagram_queue = qp != nullptr && qp->type == efa_objects::transport::ud;
    const bool takes = qp != nullptr && qp->receives() && is_datagram_queue == packet.datagram;
    const bool key = takes && qp->qkey == packet.qkey;
    if (key) return qp;
    objects_.count(qp, [&](traffic_counters& traffic) {
        traffic.basic.qkey_violations += takes;
        traffic.basic.rx_drops += packet.present();
    });
    refuse(packet, status::remote_bad_qp);
    return nullptr;
}

/// RDMA requires an address handle for the other card (EFA contract 12).
bool packet_receiver::peer_is_known(const srd_packet& packet) {
    if (objects_.handle_of(efa_objects::gid_of(packet.source))) return true;
    refuse(packet, status::remote_unknown_peer);
    return false;
}

/// Whether the region that an RDMA packet names permits the access to its address.
bool packet_receiver::permits(const srd_packet& packet, const queue_pair& qp,
                              memory_access access) const {
    if (packet.total == 0) return true;
    const auto* const region = objects_.regions.find(packet.rkey);
    return region != nullptr && region->domain() == qp.domain &&
           region->permits(access, packet.address, packet.bytes);
}

bool packet_receiver::has_receive(const queue_pair& qp) {
    return qp.receives_posted != qp.receives_taken;
}

// --- receives ---

/// Reads the descriptors of the next receive. Fails if the ring has no complete receive.
packet_receiver::progress packet_receiver::fetch(queue_pair& qp, receive& taken,
                                                 pending_access& pending) {
    while (!taken.is_complete) {
        const auto posted = static_cast<std::uint16_t>(qp.receives_posted - qp.receives_taken);
        if (taken.descriptors == limits::receive_elements || taken.descriptors >= posted)
            return progress::failed;
        const auto number = static_cast<std::uint16_t>(qp.receives_taken + taken.descriptors);
        const std::uint64_t address =
            qp.receive_ring + std::uint64_t{number % qp.receive_depth} * limits::receive_bytes;
        entry words;
        sc_time delay;
        const auto outcome = memory_.access(tlm::TLM_READ_COMMAND, address, words.words().data(),
                                            limits::receive_bytes, pending, delay);
        if (outcome != progress::done) return outcome;
        taken.ready = std::max(taken.ready, sc_core::sc_time_stamp() + delay);
        if (taken.descriptors == 0)
            taken.id = static_cast<std::uint16_t>(words.get(io::receive::id));
        taken.elements[taken.descriptors++] = {words.get(io::receive_key::lkey),
                                               words.get_wide(reg::receive_address_lo),
                                               words.get(io::receive::length)};
        taken.is_complete = words.get(io::receive_key::last) != 0;
    }
    return progress::done;
}

/// Flushes the next receive of a queue pair in the error state. If the ring cannot be read, its
/// other receives are not flushed.
packet_receiver::progress packet_receiver::flush() {
    const auto handle = flushing_.front();
    queue_pair* const qp = objects_.queue_pairs.find(handle);
    auto result = progress::failed;
    if (qp != nullptr && qp->state == efa_objects::qp_state::error && has_receive(*qp))
        result = fetch(*qp, flushed_, pending_flush_);
    if (result == progress::deferred) return result;
    const receive ended = flushed_;
    end_flush();
    if (result == progress::failed) {
        flushing_.pop_front();
        return result;
    }
    qp->receives_taken = static_cast<std::uint16_t>(qp->receives_taken + ended.descriptors);
    completions_.post_flushed_receive(*qp, ended.id, ended.ready);
    return result;
}

/// Writes the data of the present train to now_.place, except that of lost packets.
packet_receiver::progress packet_receiver::store(srd_packet& train) {
    now_.ready = std::max(now_.ready, now_.taken.ready);
    for (unsigned& i = now_.storing; i < train.train; ++i) {
        const std::uint64_t end = train.end(i, train.data.size());
        if (!train.has(i)) now_.stored = end;
        while (now_.stored < end) {
            const auto result =
                store(train, train.times[i], static_cast<std::uint32_t>(end - now_.stored));
            if (result != progress::done) return result;
        }
    }
    return progress::done;
}

/// Writes at most `left` of the next bytes, which arrive at `arrival` (absolute).
packet_receiver::progress packet_receiver::store(srd_packet& train, const sc_time& arrival,
                                                 std::uint32_t left) {
    const auto piece = now_.place.translate(objects_, now_.first + now_.stored, left);
    if (!piece) return progress::failed;
    const auto count = access_size(memory_, tlm::TLM_WRITE_COMMAND, piece->bus_address,
                                   static_cast<std::uint32_t>(piece->bytes), pending_);
    // The payload of a write is not modified; TLM-2.0 has only non-const pointers.
    auto* const bytes = const_cast<std::uint8_t*>(train.content()) + now_.stored;
    const sc_time now = sc_core::sc_time_stamp();
    sc_time delay = std::max(arrival, now) - now;
    const auto outcome =
        memory_.access(tlm::TLM_WRITE_COMMAND, piece->bus_address, bytes, count, pending_, delay);
    if (outcome != progress::done) return outcome;
    now_.stored += count;
    now_.ready = std::max(now_.ready, now + delay);
    return progress::done;
}

/// Writes the 40 bytes at the start of a UD receive: zeros, then the GIDs of both cards.
void packet_receiver::add_global_header(srd_packet& packet) {
    const auto source = efa_objects::gid_of(packet.source);
    const auto destination = efa_objects::gid_of(packet.destination);
    std::array<std::uint8_t, global_header> header = {};
    std::ranges::copy(source, header.end() - destination.size() - source.size());
    std::ranges::copy(destination, header.end() - destination.size());
    packet.data.insert(packet.data.begin(), header.begin(), header.end());
}

// --- packets ---

packet_receiver::progress packet_receiver::take_send(srd_packet& packet) {
    queue_pair* qp = objects_.by_number(packet.destination_qp);
    if (!now_.admitted) {
        qp = admitted_to(packet);
        if (qp == nullptr) return progress::done;
        if (!has_receive(*qp)) {
            objects_.count(qp, [](traffic_counters& traffic) { ++traffic.basic.rx_drops; });
            refuse(packet, status::remote_not_ready);
            return progress::done;
        }
        now_.admitted = true;
        if (packet.datagram) add_global_header(packet);
    }
    if (qp == nullptr) return progress::done;  // destroyed meanwhile
    const auto fetched = fetch(*qp, now_.taken, pending_);
    if (fetched == progress::deferred) return fetched;
    if (fetched == progress::failed) {
        refuse(packet, status::remote_abort);
        return progress::done;
    }
    if (now_.stored == 0)
        now_.place = memory_walk(qp->domain, memory_access::local_write,
                                 std::span(now_.taken.elements).first(now_.taken.descriptors));
    const bool fits = packet.data.size() <= now_.place.length();
    const auto stored = fits ? store(packet) : progress::failed;
    if (stored == progress::deferred) return stored;
    qp->receives_taken = static_cast<std::uint16_t>(qp->receives_taken + now_.taken.descriptors);
    completions::receive_done done{.id = now_.taken.id};
    if (stored == progress::failed) {
        done.result = fits ? status::local_bad_lkey : status::local_bad_length;
        completions_.post(*qp, done, packet, sc_core::sc_time_stamp());
        refuse(packet, fits ? status::remote_abort : status::remote_bad_length);
        return progress::done;
    }
    finish_send(packet, *qp);
    return progress::done;
}

void packet_receiver::finish_send(const srd_packet& packet, queue_pair& qp) {
    const auto size = static_cast<std::uint32_t>(packet.data.size());
    objects_.count(&qp, [&packet](traffic_counters& traffic) {
        count_arrival(packet, traffic);
        ++traffic.messages.receives;
        traffic.messages.receive_bytes += packet.bytes;
    });
    completions_.post(qp, completions::receive_done{.id = now_.taken.id, .length = size}, packet,
                      now_.ready);
    if (!packet.datagram) respond(status::ok, now_.ready);
}

packet_receiver::progress packet_receiver::take_write(srd_packet& packet) {
    queue_pair* qp = objects_.by_number(packet.destination_qp);
    if (!now_.admitted) {
        qp = admitted_to(packet);
        if (qp == nullptr || !peer_is_known(packet)) return progress::done;
        if (!permits(packet, *qp, memory_access::remote_write)) {
            refuse(packet, status::remote_bad_address);
            return progress::done;
        }
        now_.takes_receive =
            packet.has_immediate && !qp->unsolicited && arrivals_.completes(packet);
        if (now_.takes_receive && !has_receive(*qp)) {
            refuse(packet, status::remote_not_ready);
            return progress::done;
        }
        now_.admitted = true;
        const memory_walk::element place{packet.rkey, packet.address, packet.bytes};
        now_.place = memory_walk(qp->domain, memory_access::remote_write, {&place, 1});
    }
    if (qp == nullptr) return progress::done;  // destroyed meanwhile
    const auto fetched = now_.takes_receive ? fetch(*qp, now_.taken, pending_) : progress::done;
    const auto stored = fetched == progress::done ? store(packet) : fetched;
    if (stored == progress::deferred) return stored;
    if (stored == progress::failed) {
        refuse(packet,
               fetched == progress::done ? status::remote_bad_address : status::remote_abort);
        return progress::done;
    }
    objects_.count(qp, [&packet](traffic_counters& traffic) {
        count_arrival(packet, traffic);
        traffic.rdma_write.received_bytes += packet.present_share(packet.bytes);
    });
    if (packet.has_immediate) {
        const bool completes = arrivals_.completes(packet);
        arrivals_.count(packet);
        if (now_.takes_receive)
            qp->receives_taken =
                static_cast<std::uint16_t>(qp->receives_taken + now_.taken.descriptors);
        latest_ = std::max(latest_, now_.ready);
        if (completes)
            completions_.post(*qp,
                              completions::receive_done{.id = now_.taken.id,
                                                        .op = operation::rdma_write,
                                                        .unsolicited = !now_.takes_receive,
                                                        .length = packet.total},
                              packet, latest_);
    }
    respond(status::ok, now_.ready);
    return progress::done;
}

packet_receiver::progress packet_receiver::take_read(srd_packet& packet) {
    const queue_pair* const qp = admitted_to(packet);
    if (qp == nullptr || !peer_is_known(packet)) return progress::done;
    if (permits(packet, *qp, memory_access::remote_read))
        sender_.answer_read(std::move(queue_.front()));
    else
        refuse(packet, status::remote_bad_address);
    return progress::done;
}

/// Writes data that this card has read.
packet_receiver::progress packet_receiver::take_response(srd_packet& packet) {
    const auto* const request = sender_.reader(packet);
    if (request == nullptr) return progress::done;
    if (!now_.admitted) {
        now_.admitted = true;
        now_.place = request->local;
        now_.first = packet.offset;
    }
    const auto stored = store(packet);
    if (stored == progress::deferred) return stored;
    objects_.count(objects_.queue_pairs.find(request->queue_pair),
                   [&packet](traffic_counters& traffic) { count_arrival(packet, traffic); });
    sender_.data_arrived(packet, stored == progress::failed ? status::local_bad_lkey : status::ok,
                         now_.ready);
    packet_pool::give(std::move(queue_.front()));
    return progress::done;
}

}  // namespace trn::efa_transport

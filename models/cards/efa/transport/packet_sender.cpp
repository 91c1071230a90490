// SPDX-License-Identifier: Apache-2.0
#include "models/cards/efa/transport/packet_sender.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "models/cards/efa/transport/packet_pool.h"

namespace trn::efa_transport {

using efa_objects::memory_access;
using efa_objects::memory_walk;
using efa_objects::queue_pair;
using efa_objects::traffic_counters;
using sc_core::sc_time;

namespace {

/// Lead time of a train's reads.
sc_time read_ahead() {
    return {4, sc_core::SC_US};
}
// Sending time of a train. Bytes are in the receiver's memory before their arrival by at most this
// and the difference between paths.
constexpr double max_train_seconds = 1.5e-6;
// Window towards an idle card: the bytes that the port sends in about a round trip.
constexpr double initial_window_seconds = 30e-6;
constexpr double min_initial_window = 8;  // packets

}  // namespace

packet_sender::packet_sender(sc_core::sc_module_name name, const config& cfg,
                             tlm::tlm_initiator_socket<64>& bus,
                             std::span<const std::uint8_t> rings, efa_objects::objects& objects,
                             wire& port, completions& posted)
    : sc_module(name),
      cfg_(cfg),
      memory_(bus),
      objects_(objects),
      port_(port),
      max_train_(std::clamp(
          static_cast<std::uint32_t>(max_train_seconds *
                                     static_cast<double>(port.bytes_per_second()) / cfg.packet),
          1u, ethernet::frame::max_train)),
      link_{.initial = std::max(
                min_initial_window,
                initial_window_seconds * static_cast<double>(port.bytes_per_second()) / cfg.packet),
            .window = static_cast<double>(cfg.window),
            .retries = cfg.retries,
            .retransmit = cfg.retransmit},
      queues_(this->name(),
              {.mtu = cfg.mtu, .rdma_read = cfg.rdma_read, .rdma_write = cfg.rdma_write}, rings,
              objects, memory_, posted, work_,
              {.begin = [this](send_request& request) { begin_request(request); },
               .end = [this](send_request& request) { end_request(request); }}) {
    SC_METHOD(run);
    sensitive << work_;
    dont_initialize();
}

void packet_sender::forget() {
    queues_.for_each([](send_request& request) { request.keep_lent(); });
    queues_.forget();
    outgoing_.reset();
    peers_.clear();
    streams_.clear();
    ready_.clear();
    repeating_.clear();
    timers_.clear();
    unready_.clear();
    probes_.clear();
    peer_reads_.clear();
    unacknowledged_ = 0;
}

void packet_sender::stop(std::uint32_t handle, bool flushes) {
    if (!queues_.stop(handle, flushes)) return;
    remove_ended();
    if (flushes) wake();  // flushes requests that are not fetched yet
}

void packet_sender::address_handle_removed(std::uint16_t number) {
    queues_.complete_if(
        [number](const send_request& request) { return request.address_handle == number; },
        status::local_bad_ah);
    remove_ended();
}

// --- the process ---

/// Advances until blocked or idle. The state selects each step; events only wake the process.
void packet_sender::run() {
    for (;;) {
        expire();
        progress reached = fill();
        if (reached == progress::idle) reached = queues_.fetch();
        if (reached == progress::idle) {
            const sc_time now = sc_core::sc_time_stamp();
            if (port_.free() > now + read_ahead()) {
                work_.notify(port_.free() - read_ahead() - now);
                break;
            }
            reached = choose();
        }
        if (reached != progress::moved) break;
    }
    const sc_time now = sc_core::sc_time_stamp();
    if (!timers_.empty()) work_.notify(timers_.begin()->first - now);
    if (!probes_.empty()) work_.notify(probes_.begin()->first - now);
}

// --- timeouts ---

void packet_sender::expire() {
    const sc_time now = sc_core::sc_time_stamp();
    while (!timers_.empty() && timers_.begin()->first <= now)
        expire_packets(timers_.begin()->second);
    while (!probes_.empty() && probes_.begin()->first <= now) probe();
}

void packet_sender::expire_packets(ethernet::address card) {
    timers_.erase(timers_.begin());
    peer& remote = peers_.at(card);
    remote.timer = sc_core::sc_max_time();
    const auto silence = remote.link.expire([this](const connection::packet_name& lost) {
        if (const send_request* const request = queues_.find(lost.message); request != nullptr)
            objects_.count(objects_.queue_pairs.find(request->queue_pair),
                           [](traffic_counters& traffic) { ++traffic.network.timeouts; });
    });
    if (silence == connection::silence::noticed && remote.link.timeouts() == 2)
        ++objects_.counters.network.impaired_connections;
    if (silence == connection::silence::final)
        return fail_all(card, remote.link.has_answered() ? status::local_unresponsive_remote
                                                         : status::local_unreachable_remote);
    set_timer(card, remote);
    reopen(card, remote);
}

/// The timeout becomes shorter when a card that was silent answers again.
void packet_sender::set_timer(ethernet::address card, peer& remote) {
    const auto due = remote.link.deadline();
    if (!due || remote.timer <= *due) return;
    timers_.erase({remote.timer, card});
    remote.timer = *due;
    timers_.emplace(*due, card);
    const sc_time now = sc_core::sc_time_stamp();
    work_.notify(std::max(*due, now) - now);
}

/// Continues streams and repeats of a card whose window may have room.
void packet_sender::reopen(ethernet::address card, peer& remote) {
    if (!remote.is_repeating && remote.link.may_repeat() && remote.link.next_lost()) {
        remote.is_repeating = true;
        repeating_.push_back(card);
        wake();
    }
    if (remote.parked.empty() || remote.link.room() == 0) return;
    ready_.insert(ready_.end(), remote.parked.begin(), remote.parked.end());
    remote.parked.clear();
    wake();
}

/// Ends all requests to a card that does not answer. Later requests begin with a new connection.
void packet_sender::fail_all(ethernet::address card, status why) {
    std::set<std::uint32_t> handles;
    queues_.complete_if(
        [&](const send_request& request) {
            const bool ends = request.card == card && !request.datagram;
            if (ends) handles.insert(request.queue_pair);
            return ends;
        },
        why);
    remove_ended();
    ++objects_.counters.network.unresponsive_remotes;
    for (const std::uint32_t handle : handles)
        if (queue_pair* const qp = objects_.queue_pairs.find(handle); qp != nullptr)
            ++qp->counters.network.unresponsive_remotes;
    peer& remote = peers_.at(card);
    ready_.insert(ready_.end(), remote.parked.begin(), remote.parked.end());
    std::erase(repeating_, card);
    const bool has_answered = remote.link.has_answered();
    remote = {.link = std::move(remote.link)};
    remote.link.restart(++connections_);
    if (!has_answered) peers_.erase(card);  // only existing cards are remembered
}

/// Removes packets of requests that ended early. Those in flight are finished when they are
/// answered or time out.
void packet_sender::remove_ended() {
    if (outgoing_ && outgoing_->packet->type != srd_packet::kind::read_response &&
        queues_.find(outgoing_->packet->message) == nullptr) {
        outgoing_.reset();
    }
    const auto ended = [this](std::uint64_t message) { return queues_.find(message) == nullptr; };
    for (auto& [name, items] : streams_)
        std::erase_if(items, [&](const stream_item& each) { return ended(each.message); });
    for (auto& [name, waiting] : unready_) waiting.remove(ended);
}

void packet_sender::add(const stream_name& stream, const stream_item& added) {
    const auto [found, is_new] = streams_.try_emplace(stream);
    found->second.push_back(added);
    if (is_new) ready_.push_back(stream);
}

packet_sender::peer* packet_sender::find_peer(ethernet::address card) {
    const auto found = peers_.find(card);
    return found == peers_.end() ? nullptr : &found->second;
}

packet_sender::peer& packet_sender::peer_of(ethernet::address card) {
    peer* const known = find_peer(card);
    if (known != nullptr) return *known;
    return peers_.emplace(card, peer{.link = connection(link_, ++connections_)}).first->second;
}

// --- receivers that are not ready ---

packet_sender::receiver_name packet_sender::receiver_of(const send_request& request) {
    return {{request.queue_pair, request.card}, request.destination_qp};
}

/// The receiver of a packet was not ready: the packet waits, and no other packet for other queue
/// pairs does.
void packet_sender::refused(send_request& request, std::uint32_t packet) {
    const std::uint8_t retries = objects_.queue_pairs.find(request.queue_pair)->rnr_retry;
    const auto is_over = [retries](std::uint32_t refusals) {
        return retries != queue_pair::rnr_for_ever && refusals > retries;
    };
    ++request.refusals;
    const bool was_probe = std::exchange(request.is_probe, false);
    const receiver_name receiver = receiver_of(request);
    const auto [found, is_new] = unready_.try_emplace(receiver);
    if (is_new) probes_.emplace(sc_core::sc_time_stamp() + cfg_.not_ready, receiver);
    unready& list = found->second;
    if (was_probe)
        list.add_probe({{request.message, packet}, request.refusals});
    else if (!is_over(request.refusals))
        list.add({{request.message, packet}, request.refusals});
    else
        queues_.complete(request.message, status::remote_not_ready, sc_core::sc_time_stamp());
    while (!list.empty() && is_over(list.front().refusals)) {
        const std::uint64_t message = list.take().packet.message;
        if (queues_.find(message) != nullptr)
            queues_.complete(message, status::remote_not_ready, sc_core::sc_time_stamp());
    }
    wake();
}

/// Sends the next `count` packets that wait for a receiver.
void packet_sender::release(const receiver_name& receiver, unsigned count, bool as_probe) {
    const auto found = unready_.find(receiver);
    if (found == unready_.end()) return;
    for (; count > 0 && !found->second.empty(); --count) {
        const auto next = found->second.take();
        send_request* const request = queues_.find(next.packet.message);
        if (request == nullptr) continue;
        request->refusals = next.refusals;
        request->is_probe = as_probe;
        add(receiver.stream, {next.packet.message, next.packet.packet});
    }
    wake();
}

void packet_sender::probe() {
    const receiver_name receiver = probes_.begin()->second;
    probes_.erase(probes_.begin());
    if (unready_.at(receiver).empty()) {
        unready_.erase(receiver);
        return;
    }
    release(receiver, 1, true);
    probes_.emplace(sc_core::sc_time_stamp() + cfg_.not_ready, receiver);
}

// --- work requests ---

/// Queues the packets of a request that was fetched.
void packet_sender::begin_request(send_request& request) {
    const std::uint32_t per_packet = packet_bytes(request);
    request.packets = request.left = std::max(1u, (request.length + per_packet - 1) / per_packet);
    const auto waiting = unready_.find(receiver_of(request));
    const bool is_refused = request.op == operation::send && waiting != unready_.end() &&
                            !waiting->second.empty() && !request.datagram;
    if (is_refused)
        waiting->second.add({{request.message, 0}, 0});
    else
        add({request.queue_pair, request.card}, {request.message, std::nullopt});
    // The packets of this request must not leave before the card has read the request.
    port_.hold_until(std::max(port_.free(), sc_core::sc_time_stamp()));
}

/// Releases the resources of a request that ends.
void packet_sender::end_request(send_request& request) {
    request.keep_lent();
    unacknowledged_ -= request.flying();
    if (request.slot) peers_.at(request.card).free_slots.push_back(*request.slot);
}

std::uint32_t packet_sender::packet_bytes(const send_request& request) const {
    return request.op == operation::send ? cfg_.mtu : cfg_.packet;
}

// --- packets ---

/// Reads the data of the selected train, and sends it.
progress packet_sender::fill() {
    if (!outgoing_) return progress::idle;
    srd_packet& train = *outgoing_->packet;
    if (train.type == srd_packet::kind::read_response && !answers_reads(train.source_qp)) {
        give_up(status::remote_bad_qp);
        return progress::moved;
    }
    const trace::on_behalf_of cause(train.cause);
    for (unsigned& i = outgoing_->reading; i < train.train; ++i) {
        const std::uint64_t end = train.end(i, train.data.size());
        if (!train.has(i)) outgoing_->filled = end;
        while (outgoing_->filled < end) {
            switch (outgoing_->read(objects_, memory_,
                                    static_cast<std::uint32_t>(end - outgoing_->filled))) {
            case memory_port::outcome::deferred:
                return progress::blocked;
            case memory_port::outcome::failed:
                give_up(status::remote_bad_address);
                return progress::moved;
            case memory_port::outcome::done:
                break;
            }
        }
        train.times[i] = outgoing_->ready + cfg_.processing;
    }
    dispatch();
    return progress::moved;
}

/// Ends the selected train, whose data cannot be read. `refusal`: of a read by another card.
void packet_sender::give_up(status refusal) {
    auto train = std::move(outgoing_->packet);
    outgoing_.reset();
    if (train->type == srd_packet::kind::read_response) {
        train->swap_ends();  // as before prepare_response(): respond() swaps the ends too
        respond(std::move(train), refusal, sc_core::sc_time_stamp());
    } else if (queues_.find(train->message) != nullptr) {
        queues_.complete(train->message, status::local_bad_lkey, sc_core::sc_time_stamp());
    }
}

/// Sends the selected train.
void packet_sender::dispatch() {
    auto& train = *outgoing_->packet;
    counters_.packets += train.present();
    objects_.count(objects_.by_number(train.source_qp), [&train](traffic_counters& traffic) {
        traffic.basic.tx_packets += train.present();
        traffic.basic.tx_bytes += train.present_share(train.data.size());
    });
    if (outgoing_->lent != nullptr) lend();
    const std::uint64_t message = train.message;
    const bool ends = train.type == srd_packet::kind::send && train.datagram;
    port_.send(std::move(outgoing_->packet));
    outgoing_.reset();
    if (ends && queues_.find(message) != nullptr)
        queues_.complete(message, status::ok, port_.free());
}

/// Sends the selected train with data in the server's memory, which its program must not change
/// until the request ends.
void packet_sender::lend() {
    send_request* const request = queues_.find(outgoing_->packet->message);
    if (request == nullptr) return outgoing_->keep_lent();
    if (request->lent.size() >= 2 * std::size_t{request->packets})  // packets were repeated
        std::erase_if(request->lent, [](const auto& each) { return each.expired(); });
    outgoing_->packet->lend(outgoing_->lent);
    request->lent.emplace_back(outgoing_->packet->lent);
}

void packet_sender::invalidate(std::uint64_t first, std::uint64_t last) {
    memory_.invalidate(first, last);
    if (outgoing_) outgoing_->keep_lent();
    queues_.for_each([](send_request& request) { request.keep_lent(); });
}

/// Selects the next train: lost packets first, then responses to other cards and the queue pairs'
/// own packets in turn, so that cards that read from each other can still send requests.
progress packet_sender::choose() {
    if (choose_repeated() == progress::moved) return progress::moved;
    const bool own_turn = std::exchange(answered_, false);
    if (own_turn && choose_own() == progress::moved) return progress::moved;
    if (!peer_reads_.empty()) {
        answered_ = true;
        prepare_response();
        return progress::moved;
    }
    return own_turn ? progress::idle : choose_own();
}

progress packet_sender::choose_repeated() {
    while (!repeating_.empty()) {
        const ethernet::address card = repeating_.front();
        peer& remote = peers_.at(card);
        const auto number = remote.link.next_lost();
        if (!number || !remote.link.may_repeat()) {
            repeating_.pop_front();
            remote.is_repeating = false;
            reopen(card, remote);  // packets of ended requests make room
            continue;
        }
        const connection::packet_name lost = *remote.link.find(*number);
        send_request* const request = queues_.find(lost.message);
        if (request == nullptr) {
            remote.link.finish(*number);
            continue;
        }
        ++counters_.retransmits;
        objects_.count(
            objects_.queue_pairs.find(request->queue_pair), [&](traffic_counters& traffic) {
                ++traffic.network.retransmitted_packets;
                traffic.network.retransmitted_bytes += request->op == operation::rdma_read
                                                           ? 0
                                                           : std::min(request->length, cfg_.packet);
            });
        const sc_time time = departure();
        remote.link.repeat(time);
        set_timer(card, remote);
        prepare(*request, {lost.packet, 1, *number, time});
        return progress::moved;
    }
    return progress::idle;
}

/// Selects packets of the next stream whose card's window has room.
progress packet_sender::choose_own() {
    while (!ready_.empty()) {
        const stream_name name = ready_.front();
        ready_.pop_front();
        auto& items = streams_.at(name);
        while (!items.empty() && queues_.find(items.front().message) == nullptr) items.pop_front();
        if (items.empty()) {
            streams_.erase(name);
            continue;
        }
        send_request& request = *queues_.find(items.front().message);
        peer* const remote = request.datagram ? nullptr : &peer_of(name.card);
        const std::uint32_t room = remote == nullptr ? 1 : remote->link.room();
        if (room == 0) {
            remote->parked.push_back(name);
            continue;
        }
        const auto single = items.front().packet;
        const std::uint32_t first = single.value_or(request.next);
        const std::uint32_t count = single ? 1 : next_train(request, room);
        const std::uint32_t end = std::max(request.next, first + count);
        unacknowledged_ += end - request.next;
        request.next = end;
        if (single || end == request.packets) items.pop_front();
        if (items.empty())
            streams_.erase(name);
        else
            ready_.push_back(name);
        departing train{first, count, 0, departure()};
        if (remote != nullptr) {
            train.number = remote->link.send({request.message, first}, count, train.time);
            set_timer(name.card, *remote);
        }
        prepare(request, train);
        return progress::moved;
    }
    return progress::idle;
}

/// Number of packets in the next train of a request. Packets with immediate data go alone, because
/// each may be the one that completes the write.
std::uint32_t packet_sender::next_train(const send_request& request, std::uint32_t room) const {
    if (request.op == operation::send || request.has_immediate) return 1;
    return std::min({max_train_, request.packets - request.next, room});
}

/// When the next packet leaves, unless its data is late (absolute).
sc_time packet_sender::departure() const {
    return std::max(sc_core::sc_time_stamp(), port_.free());
}

/// Makes a train of packets of a request; fill() sends it.
void packet_sender::prepare(send_request& request, const departing& train) {
    const queue_pair& qp = *objects_.queue_pairs.find(request.queue_pair);
    const std::uint32_t per_packet = packet_bytes(request);
    auto packet = packet_pool::take();
    packet->type = request.op == operation::send        ? srd_packet::kind::send
                   : request.op == operation::rdma_read ? srd_packet::kind::read_request
                                                        : srd_packet::kind::write;
    packet->source = port_.address();
    packet->destination = request.card;
    packet->cause = request.slice.operation;
    packet->datagram = request.datagram;
    packet->has_immediate = request.has_immediate;
    packet->immediate = request.has_immediate ? request.immediate : 0;
    packet->source_qp = qp.number;
    packet->destination_qp = request.destination_qp;
    packet->qkey = request.qkey;
    packet->message = request.message;
    if (!request.datagram) identify(request, train, *packet);
    packet->train = train.count;
    packet->packet_bytes = per_packet;
    packet->packets = request.packets;
    packet->rkey = request.rkey;
    packet->offset = train.first * per_packet;
    packet->address = request.remote + packet->offset;
    packet->bytes = std::min(train.count * per_packet, request.length - packet->offset);
    packet->total = request.length;

    outgoing_.emplace(work_);
    outgoing_->ready = sc_core::sc_time_stamp();
    if (request.op != operation::rdma_read) {
        packet->make_room(packet->bytes);
        if (request.inlined.empty()) {
            outgoing_->source = request.local;
            outgoing_->offset = packet->offset;
            outgoing_->may_lend = !request.datagram;
        } else {
            packet->data.assign(request.inlined.begin(), request.inlined.end());
            outgoing_->filled = packet->bytes;
        }
    }
    outgoing_->packet = std::move(packet);
}

void packet_sender::identify(send_request& request, const departing& train, srd_packet& packet) {
    peer& remote = peers_.at(request.card);
    packet.connection = remote.link.id();
    packet.sequence = train.number;
    packet.sent = train.time;
    packet.oldest = remote.link.oldest();
    if (!request.has_immediate || request.packets == 1) return;
    if (!request.slot && remote.free_slots.empty()) {
        request.slot = remote.next_slot++;
    } else if (!request.slot) {
        request.slot = remote.free_slots.back();
        remote.free_slots.pop_back();
    }
    packet.slot = *request.slot;
}

// --- for other cards ---

void packet_sender::answer_read(std::unique_ptr<srd_packet> asked) {
    peer_reads_.push_back(std::move(asked));
    wake();
}

bool packet_sender::answers_reads(std::uint16_t queue_pair_number) const {
    const queue_pair* const qp = objects_.by_number(queue_pair_number);
    return qp != nullptr && qp->receives();
}

void packet_sender::prepare_response() {
    auto packet = std::move(peer_reads_.front());
    peer_reads_.pop_front();
    queue_pair* const qp = objects_.by_number(packet->destination_qp);
    if (!answers_reads(packet->destination_qp))  // stopped since the request arrived
        return respond(std::move(packet), status::remote_bad_qp, sc_core::sc_time_stamp());
    outgoing_.emplace(work_);
    outgoing_->ready = sc_core::sc_time_stamp();
    const memory_walk::element asked{packet->rkey, packet->address, packet->bytes};
    outgoing_->source = memory_walk(qp->domain, memory_access::remote_read, {&asked, 1});
    packet->type = srd_packet::kind::read_response;
    packet->make_room(packet->bytes);
    packet->swap_ends();
    objects_.count(qp, [&packet](traffic_counters& traffic) {
        traffic.rdma_read.response_bytes += packet->present_share(packet->bytes);
    });
    outgoing_->packet = std::move(packet);
}

void packet_sender::respond(std::unique_ptr<srd_packet> packet, status result,
                            const sc_time& ready) {
    packet->answer(result);
    const trace::on_behalf_of cause(packet->cause);
    const sc_time now = sc_core::sc_time_stamp();
    const sc_time busy = port_.free();
    packet->times[0] = std::max(now, ready) + cfg_.processing;
    port_.send(std::move(packet));
    port_.hold_until(std::max(busy, now));  // responses are short: they do not delay data
}

void packet_sender::responded(std::unique_ptr<srd_packet> response) {
    take_answer(*response, response->answered, response->missing, response->result,
                sc_core::sc_time_stamp());
    packet_pool::give(std::move(response));
}

const send_request* packet_sender::reader(srd_packet& response) {
    peer* const remote = find_peer(response.source);
    if (remote == nullptr || remote->link.id() != response.connection) return nullptr;
    for (unsigned i = 0; i < response.train; ++i)
        if (response.has(i) && remote->link.find(response.sequence + i) == nullptr)
            response.lose(i);
    return response.present() == 0 ? nullptr : queues_.find(response.message);
}

void packet_sender::data_arrived(const srd_packet& response, status result, const sc_time& time) {
    take_answer(response, response.train, response.lost, result, time);
}

/// Packets of another card are answered: `count` from number answer.sequence on, except packet i
/// for each bit i of `missing`. The last of their data is in memory at `time` (absolute).
void packet_sender::take_answer(const srd_packet& answer, std::uint32_t count, std::uint8_t missing,
                                status result, const sc_time& time) {
    peer* const remote = find_peer(answer.source);
    if (remote == nullptr || remote->link.id() != answer.connection) return;
    std::array<std::uint32_t, ethernet::frame::max_train> packets{};
    std::uint32_t fresh = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto* const each = remote->link.find(answer.sequence + i);
        if (each == nullptr || (missing >> i & 1) != 0) continue;
        packets[fresh++] = each->packet;
        remote->link.finish(answer.sequence + i, answer.sent);
    }
    remote->link.answered(answer.sent, fresh);
    send_request* const request = fresh == 0 ? nullptr : queues_.find(answer.message);
    if (request != nullptr && result == status::remote_not_ready) {
        refused(*request, packets[0]);
    } else if (request != nullptr) {
        if (request->takes_receive()) release(receiver_of(*request), 2, false);
        if (result == status::ok)
            for (std::uint32_t i = 0; i < fresh; ++i) finish_packet(*request, packets[i]);
        if (result != status::ok || request->left == 0)
            queues_.complete(answer.message, result, time);
    }
    set_timer(answer.source, *remote);
    reopen(answer.source, *remote);
}

void packet_sender::finish_packet(send_request& request, std::uint32_t number) {
    --request.left;
    --unacknowledged_;
    if (number < request.furthest) ++counters_.out_of_order;
    request.furthest = std::max(request.furthest, number);
}

}  // namespace trn::efa_transport

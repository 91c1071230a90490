// SPDX-License-Identifier: Apache-2.0
#include "models/cards/efa/transport/packet_sender.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "models/cards/efa/transport/access_size.h"
#include "models/cards/efa/transport/packet_pool.h"

namespace trn::efa_transport {

using efa_objects::limits;
using efa_objects::memory_access;
using efa_objects::memory_region;
using efa_objects::memory_walk;
using efa_objects::queue_pair;
using efa_objects::traffic_counters;
using sc_core::sc_time;
namespace io = efa_io_regs;
using io::reg;

namespace {

const sc_time read_ahead(4, sc_core::SC_US);  // lead time of a train's reads
// Sending time of a train. Bytes are in the receiver's memory before their arrival by at most this
// and the difference between paths.
constexpr double max_train_seconds = 1.5e-6;
// Window towards an idle card: what the port sends in about a round trip.
constexpr double initial_window_seconds = 30e-6;
constexpr double min_initial_window = 8;  // packets

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

packet_sender::packet_sender(sc_core::sc_module_name name, const config& cfg,
                             tlm::tlm_initiator_socket<64>& bus,
                             std::span<const std::uint8_t> rings, efa_objects::objects& objects,
                             wire& port, completions& to)
    : sc_module(name),
      cfg_(cfg),
      memory_(bus),
      rings_(rings),
      objects_(objects),
      port_(port),
      completions_(to),
      max_train_(std::clamp(
          static_cast<std::uint32_t>(max_train_seconds *
                                     static_cast<double>(port.bytes_per_second()) / cfg.packet),
          1u, ethernet::frame::max_train)),
      link_{.initial = std::max(
                min_initial_window,
                initial_window_seconds * static_cast<double>(port.bytes_per_second()) / cfg.packet),
            .window = static_cast<double>(cfg.window),
            .retries = cfg.retries,
            .retransmit = cfg.retransmit} {
    SC_METHOD(run);
    sensitive << work_;
    dont_initialize();
}

void packet_sender::wake() {
    work_.notify(sc_core::SC_ZERO_TIME);
}

void packet_sender::forget() {
    for (auto& [message, each] : requests_) {
        keep_lent(each);
        const trace::on_behalf_of it(each.slice.of);
        if (trace::on()) trace::end(each.slice, name(), "dropped");
    }
    requests_.clear();
    queues_.clear();
    outgoing_.reset();
    list_.reset();
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

void packet_sender::posted(std::uint32_t handle, std::uint16_t count) {
    queue_pair* const qp = objects_.queue_pairs.find(handle);
    if (qp == nullptr) return;
    const auto added = static_cast<std::uint16_t>(count - qp->sends_posted);
    const auto waiting = static_cast<std::uint16_t>(count - qp->sends_fetched);
    if (waiting > qp->send_depth) return;  // count exceeds the ring: ignore the doorbell
    qp->sends_posted = count;
    if (trace::on() && added != 0) {
        auto& posted = queues_[handle].posted;
        posted.emplace_back(trace::current_or_new_operation(), added);
        const trace::on_behalf_of it(posted.back().first);
        trace::event(name(), "doorbell", {{"queue", qp->number}, {"count", added}});
    }
    queues_.try_emplace(handle);
    wake();
}

/// Without `flushes`, requests are discarded without completions (EFA contract 16).
void packet_sender::stop(std::uint32_t handle, bool flushes) {
    if (list_ && list_->queue_pair % limits::max_qp == handle) list_.reset();
    const auto found = queues_.find(handle);
    if (found == queues_.end()) return;
    const std::set<std::uint64_t> ended = found->second.messages;
    for (const std::uint64_t message : ended) {
        if (flushes) {
            complete(message, status::flushed, sc_core::sc_time_stamp());
            continue;
        }
        request& of = requests_.at(message);
        const trace::on_behalf_of it(of.slice.of);
        if (trace::on()) trace::end(of.slice, name(), "dropped");
        remove(message);
    }
    remove_ended();
    if (flushes)
        wake();  // flushes requests that are not fetched yet
    else
        queues_.erase(handle);
}

void packet_sender::address_handle_removed(std::uint16_t number) {
    std::vector<std::uint64_t> ended;
    for (const auto& [message, each] : requests_)
        if (each.address_handle == number) ended.push_back(message);
    for (const std::uint64_t message : ended)
        complete(message, status::local_bad_ah, sc_core::sc_time_stamp());
    remove_ended();
}

packet_sender::request* packet_sender::lookup(std::uint64_t message) {
    const auto at = requests_.find(message);
    return at == requests_.end() ? nullptr : &at->second;
}

// --- the process ---

/// Advances until blocked or idle. The state selects each step; events only wake the process.
void packet_sender::run() {
    for (;;) {
        expire();
        progress how = fill();
        if (how == progress::idle) how = fetch();
        if (how == progress::idle) {
            const sc_time now = sc_core::sc_time_stamp();
            if (port_.free() > now + read_ahead) {
                work_.notify(port_.free() - read_ahead - now);
                break;
            }
            how = choose();
        }
        if (how != progress::moved) break;
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
    peer& to = peers_.at(card);
    to.timer = sc_core::sc_max_time();
    const auto how = to.link.expire([this](const connection::packet_name& lost) {
        if (const request* const of = lookup(lost.message); of != nullptr)
            objects_.count(objects_.queue_pairs.find(of->queue_pair),
                           [](traffic_counters& by) { ++by.network.timeouts; });
    });
    if (how == connection::silence::noticed && to.link.timeouts() == 2)
        ++objects_.counters.network.impaired_connections;
    if (how == connection::silence::final)
        return fail_all(card, to.link.has_answered() ? status::local_unresponsive_remote
                                                     : status::local_unreachable_remote);
    set_timer(card, to);
    reopen(card, to);
}

/// The timeout becomes shorter when a card that was silent answers again.
void packet_sender::set_timer(ethernet::address card, peer& of) {
    const auto due = of.link.deadline();
    if (!due || of.timer <= *due) return;
    timers_.erase({of.timer, card});
    of.timer = *due;
    timers_.emplace(*due, card);
    const sc_time now = sc_core::sc_time_stamp();
    work_.notify(std::max(*due, now) - now);
}

/// Continues streams and repeats of a card whose window may have room.
void packet_sender::reopen(ethernet::address card, peer& of) {
    if (!of.is_repeating && of.link.may_repeat() && of.link.next_lost()) {
        of.is_repeating = true;
        repeating_.push_back(card);
        wake();
    }
    if (of.parked.empty() || of.link.room() == 0) return;
    ready_.insert(ready_.end(), of.parked.begin(), of.parked.end());
    of.parked.clear();
    wake();
}

/// Ends all requests to a card that does not answer. Later ones begin with a new connection.
void packet_sender::fail_all(ethernet::address card, status why) {
    std::set<std::uint32_t> handles;
    std::vector<std::uint64_t> ended;
    for (const auto& [message, each] : requests_) {
        if (each.card != card || each.datagram) continue;
        ended.push_back(message);
        handles.insert(each.queue_pair);
    }
    for (const std::uint64_t message : ended) complete(message, why, sc_core::sc_time_stamp());
    remove_ended();
    ++objects_.counters.network.unresponsive_remotes;
    for (const std::uint32_t handle : handles)
        if (queue_pair* const qp = objects_.queue_pairs.find(handle); qp != nullptr)
            ++qp->counters.network.unresponsive_remotes;
    peer& of = peers_.at(card);
    ready_.insert(ready_.end(), of.parked.begin(), of.parked.end());
    std::erase(repeating_, card);
    const bool has_answered = of.link.has_answered();
    of = {.link = std::move(of.link)};
    of.link.restart(++connections_);
    if (!has_answered) peers_.erase(card);  // only existing cards are remembered
}

/// Removes packets of requests that ended early. Those in flight are finished when they are
/// answered or time out.
void packet_sender::remove_ended() {
    if (outgoing_ && outgoing_->packet->type != srd_packet::kind::read_response &&
        lookup(outgoing_->packet->message) == nullptr) {
        outgoing_.reset();
    }
    const auto ended = [this](std::uint64_t message) { return lookup(message) == nullptr; };
    for (auto& [name, items] : streams_)
        std::erase_if(items, [&](const stream_item& each) { return ended(each.message); });
    for (auto& [name, waiting] : unready_) waiting.remove(ended);
}

void packet_sender::add(const stream_name& to, const stream_item& added) {
    const auto [at, is_new] = streams_.try_emplace(to);
    at->second.push_back(added);
    if (is_new) ready_.push_back(to);
}

packet_sender::peer* packet_sender::find_peer(ethernet::address card) {
    const auto at = peers_.find(card);
    return at == peers_.end() ? nullptr : &at->second;
}

packet_sender::peer& packet_sender::peer_of(ethernet::address card) {
    peer* const known = find_peer(card);
    if (known != nullptr) return *known;
    return peers_.emplace(card, peer{.link = connection(link_, ++connections_)}).first->second;
}

// --- receivers that are not ready ---

packet_sender::receiver_name packet_sender::receiver_of(const request& of) {
    return {{of.queue_pair, of.card}, of.destination_qp};
}

/// The receiver of a packet was not ready: the packet waits, and no other packet for other queue
/// pairs does.
void packet_sender::refused(request& of, std::uint32_t packet) {
    const std::uint8_t retries = objects_.queue_pairs.find(of.queue_pair)->rnr_retry;
    const auto is_over = [retries](std::uint32_t refusals) {
        return retries != queue_pair::rnr_for_ever && refusals > retries;
    };
    ++of.refusals;
    const bool was_probe = std::exchange(of.is_probe, false);
    const receiver_name at = receiver_of(of);
    const auto [found, is_new] = unready_.try_emplace(at);
    if (is_new) probes_.emplace(sc_core::sc_time_stamp() + cfg_.not_ready, at);
    unready& list = found->second;
    if (was_probe)
        list.add_probe({{of.message, packet}, of.refusals});
    else if (!is_over(of.refusals))
        list.add({{of.message, packet}, of.refusals});
    else
        complete(of.message, status::remote_not_ready, sc_core::sc_time_stamp());
    while (!list.empty() && is_over(list.front().refusals)) {
        const std::uint64_t message = list.take().packet.message;
        if (lookup(message) != nullptr)
            complete(message, status::remote_not_ready, sc_core::sc_time_stamp());
    }
    wake();
}

/// Sends the next `count` packets that wait for a receiver.
void packet_sender::release(const receiver_name& at, unsigned count, bool as_probe) {
    const auto found = unready_.find(at);
    if (found == unready_.end()) return;
    for (; count > 0 && !found->second.empty(); --count) {
        const auto next = found->second.take();
        request* const of = lookup(next.packet.message);
        if (of == nullptr) continue;
        of->refusals = next.refusals;
        of->is_probe = as_probe;
        add(at.stream, {next.packet.message, next.packet.packet});
    }
    wake();
}

void packet_sender::probe() {
    const receiver_name at = probes_.begin()->second;
    probes_.erase(probes_.begin());
    if (unready_.at(at).empty()) {
        unready_.erase(at);
        return;
    }
    release(at, 1, true);
    probes_.emplace(sc_core::sc_time_stamp() + cfg_.not_ready, at);
}

// --- work requests ---

packet_sender::progress packet_sender::fetch() {
    for (auto& [handle, queue] : queues_) {
        queue_pair* const qp = objects_.queue_pairs.find(handle);
        if (qp == nullptr || qp->sends_fetched == qp->sends_posted) continue;
        const bool fetches =
            qp->state == efa_objects::qp_state::rts || qp->state == efa_objects::qp_state::error;
        if (!fetches || queue.messages.size() >= qp->send_depth) continue;
        return fetch_one(handle, *qp, queue);
    }
    return progress::idle;
}

packet_sender::progress packet_sender::fetch_one(std::uint32_t handle, queue_pair& qp,
                                                 send_queue& queue) {
    work_request from;
    const std::uint64_t place = qp.sends_fetched % qp.send_depth;
    from.bytes =
        rings_.subspan(qp.send_ring + place * qp.work_request_bytes, qp.work_request_bytes);
    const entry& words = from.words;
    std::memcpy(from.words.words().data(), from.bytes.data(), entry::size);
    if (read_pages(words, qp) == progress::blocked) return progress::blocked;
    ++qp.sends_fetched;
    const trace::on_behalf_of it(queue.posted.empty() ? 0 : queue.posted.front().first);
    if (!queue.posted.empty() && --queue.posted.front().second == 0) queue.posted.pop_front();

    const std::uint64_t message = next_message_++;
    request& added = requests_[message];
    added.queue_pair = handle;
    added.message = message;
    queue.messages.insert(message);
    decode(words, qp, added);
    std::optional<status> ends;
    if (qp.state == efa_objects::qp_state::error)
        ends = status::flushed;
    else if (added.op == operation::fast_register)
        ends = enroll(words, qp);
    else if (added.op == operation::fast_invalidate)
        ends = withdraw(words, qp);
    else
        ends = decode_remote(from, qp, added);
    list_.reset();
    if (trace::on())
        added.slice = trace::begin(name(), text(added.op),
                                   {{"queue", qp.number},
                                    {"id", added.id},
                                    {"bytes", added.length},
                                    {"card", added.card}});
    if (ends) {
        complete(message, *ends, sc_core::sc_time_stamp());
        return progress::moved;
    }
    const std::uint32_t per_packet = added.op == operation::send ? cfg_.mtu : cfg_.packet;
    added.packets = added.left = std::max(1u, (added.length + per_packet - 1) / per_packet);
    const auto waiting = unready_.find(receiver_of(added));
    const bool is_refused = added.op == operation::send && waiting != unready_.end() &&
                            !waiting->second.empty() && !added.datagram;
    if (is_refused)
        waiting->second.add({{message, 0}, 0});
    else
        add({handle, added.card}, {message, std::nullopt});
    // The packets of this request must not leave before the card has read the request.
    port_.hold_until(std::max(port_.free(), sc_core::sc_time_stamp()));
    return progress::moved;
}

void packet_sender::decode(const entry& words, const queue_pair& qp, request& to) {
    namespace wr = io::work_request;
    to.id = static_cast<std::uint16_t>(words.get(wr::id));
    to.wants_completion = words.get(wr::completion) != 0;
    to.datagram = qp.type == efa_objects::transport::ud;
    to.has_immediate = words.get(wr::has_immediate) != 0;
    to.immediate = words.get(reg::immediate);
    to.destination_qp = static_cast<std::uint16_t>(words.get(io::destination::qp));
    to.qkey = words.get(reg::qkey);
    to.address_handle = static_cast<std::uint16_t>(words.get(io::address_handle::number));
    to.op = static_cast<operation>(words.get(wr::operation));
}

/// Returns the status if the request fails at once, otherwise nothing.
std::optional<status> packet_sender::decode_remote(const work_request& from, const queue_pair& qp,
                                                   request& to) const {
    if (to.op > operation::rdma_write) return status::local_unsupported;
    const auto* const handle = objects_.address_handles.find(to.address_handle);
    if (handle == nullptr || handle->domain != qp.domain) return status::local_bad_ah;
    // Packets to a GID that no card has are lost: no port has the last number.
    to.card = efa_objects::port_of(handle->destination).value_or(0xffff);
    return to.op == operation::send ? decode_send(from, qp, to) : decode_rdma(from, qp, to);
}

/// Inline data begins at byte `at` of the work request.
std::optional<status> packet_sender::decode_inline(const work_request& from, const queue_pair& qp,
                                                   std::size_t at, request& to) {
    const auto count = from.words.get(io::destination::length);
    const bool is_long = qp.work_request_bytes == limits::long_work_request_bytes;
    if (count > (is_long ? limits::long_inline_bytes : limits::inline_bytes))
        return status::local_bad_length;
    const auto data = from.bytes.subspan(at, count);
    to.inlined.assign(data.begin(), data.end());
    to.length = count;
    return std::nullopt;
}

std::optional<status> packet_sender::decode_send(const work_request& from, const queue_pair& qp,
                                                 request& to) const {
    const entry& words = from.words;
    const auto count = words.get(io::destination::length);
    if (words.get(io::work_request::is_inline) != 0)
        return decode_inline(from, qp, entry::byte(reg::element_length), to);
    if (count > limits::send_elements) return status::local_unsupported;
    const std::array<memory_walk::element, limits::send_elements> elements{
        {{words.get(io::element_key::lkey), words.get_wide(reg::element_address_lo),
          words.get(reg::element_length)},
         {words.get(io::second_key::lkey), words.get_wide(reg::second_address_lo),
          words.get(reg::second_length)}}};
    to.local = memory_walk(qp.domain, memory_access::local_read, std::span(elements).first(count));
    if (to.local.length() > cfg_.mtu) return status::local_bad_length;
    to.length = static_cast<std::uint32_t>(to.local.length());
    if (!to.local.permitted(objects_)) return status::local_bad_lkey;
    return std::nullopt;
}

std::optional<status> packet_sender::decode_rdma(const work_request& from, const queue_pair& qp,
                                                 request& to) const {
    const entry& words = from.words;
    const bool reads = to.op == operation::rdma_read;
    // Only work requests of 128 bytes have room for inline data of a write.
    const bool has_data = words.get(io::work_request::is_inline) != 0;
    const bool may_have_data = !reads && qp.work_request_bytes == limits::long_work_request_bytes;
    if (to.datagram || !(reads ? cfg_.rdma_read : cfg_.rdma_write) || (reads && to.has_immediate) ||
        (has_data && !may_have_data) ||
        (!has_data && words.get(io::destination::length) > limits::rdma_elements))
        return status::local_unsupported;
    to.rkey = words.get(reg::remote_key);
    to.remote = words.get_wide(reg::remote_address_lo);
    if (has_data) {
        if (words.get(io::destination::length) != words.get(reg::remote_length))
            return status::local_bad_length;
        return decode_inline(from, qp, entry::byte(reg::second_length), to);
    }
    const std::array<memory_walk::element, limits::rdma_elements> elements{
        {{words.get(io::second_key::lkey), words.get_wide(reg::second_address_lo),
          words.get(reg::second_length)}}};
    to.local =
        memory_walk(qp.domain, reads ? memory_access::local_write : memory_access::local_read,
                    std::span(elements).first(words.get(io::destination::length)));
    if (to.local.length() > limits::max_rdma || to.local.length() != words.get(reg::remote_length))
        return status::local_bad_length;
    to.length = static_cast<std::uint32_t>(to.local.length());
    if (!to.local.permitted(objects_)) return status::local_bad_lkey;
    return std::nullopt;
}

// --- fast registration ---

memory_region* packet_sender::fast_region(const entry& words, const queue_pair& qp) {
    memory_region* const found = objects_.regions.find(words.get(io::fast_key::lkey));
    const bool usable = found != nullptr && found->domain() == qp.domain && found->max_pages() != 0;
    return usable ? found : nullptr;
}

/// Reads the page list of a fast registration for enroll(), if the work request has one.
packet_sender::progress packet_sender::read_pages(const entry& words, const queue_pair& qp) {
    namespace flags = io::fast_flags;
    const bool has_list =
        words.get(io::work_request::operation) == io::work_request::operation_fast_register &&
        words.get(flags::list) == flags::list_direct;
    const memory_region* const to = has_list ? fast_region(words, qp) : nullptr;
    if (to == nullptr) return progress::idle;
    const std::uint64_t count =
        memory_region::pages_of(words.get_wide(reg::fast_start_lo),
                                words.get_wide(reg::fast_length_lo), words.get(flags::page_shift));
    if (count > to->max_pages()) return progress::idle;
    // While the access was deferred, the host may have overwritten the work request.
    if (!list_ || list_->queue_pair != qp.number || list_->pages.size() != count)
        list_.emplace(qp.number, count, work_);
    auto* const bytes = reinterpret_cast<std::uint8_t*>(list_->pages.data());
    while (list_->filled < count * sizeof(std::uint64_t)) {
        const std::uint64_t at = words.get_wide(reg::fast_pages_lo) + list_->filled;
        const auto length = static_cast<std::uint32_t>(
            std::min<std::uint64_t>(count * sizeof(std::uint64_t) - list_->filled,
                                    max_access_bytes - at % max_access_bytes));
        sc_time delay;
        const auto how = memory_.access(tlm::TLM_READ_COMMAND, at, bytes + list_->filled, length,
                                        list_->pending, delay);
        if (how == memory_port::outcome::deferred) return progress::blocked;
        if (how == memory_port::outcome::failed) {
            list_.reset();
            return progress::idle;
        }
        list_->filled += length;
    }
    return progress::moved;
}

status packet_sender::enroll(const entry& words, const queue_pair& qp) {
    namespace flags = io::fast_flags;
    memory_region* const to = fast_region(words, qp);
    if (to == nullptr) return status::local_bad_lkey;
    const auto shift = words.get(flags::page_shift);
    if (shift < limits::min_page_shift || words.get(flags::list) > flags::list_direct)
        return status::local_unsupported;
    std::vector<std::uint64_t> pages;
    if (words.get(flags::list) == flags::list_inline)
        pages.push_back(words.get_wide(reg::fast_pages_lo));
    else if (list_)
        pages = std::move(list_->pages);
    const memory_region::permissions allowed{
        .local_write = words.get(flags::local_write) != 0,
        .remote_write = cfg_.rdma_write && words.get(flags::remote_write) != 0,
        .remote_read = cfg_.rdma_read && words.get(flags::remote_read) != 0};
    const bool enrolled =
        to->enroll(words.get_wide(reg::fast_start_lo), words.get_wide(reg::fast_length_lo), shift,
                   std::move(pages), allowed);
    return enrolled ? status::ok : status::local_bad_length;
}

status packet_sender::withdraw(const entry& words, const queue_pair& qp) {
    memory_region* const from = fast_region(words, qp);
    return from != nullptr && from->withdraw() ? status::ok : status::local_bad_lkey;
}

/// Ends a request, also a datagram or a failed request.
void packet_sender::complete(std::uint64_t message, status how, const sc_time& when) {
    request& of = requests_.at(message);
    const trace::on_behalf_of it(of.slice.of);
    count(of, how);
    const queue_pair* const qp = objects_.queue_pairs.find(of.queue_pair);
    // Like verbs, reports a failed request even if it is unsignalled.
    if (qp != nullptr && (of.wants_completion || how != status::ok))
        completions_.post(*qp, completions::send_done{.id = of.id, .how = how, .op = of.op}, when);
    if (trace::on())
        trace::end(of.slice, name(), "completed", {{"status", static_cast<unsigned>(how)}});
    remove(message);
    wake();
}

void packet_sender::remove(std::uint64_t message) {
    request& of = requests_.at(message);
    keep_lent(of);
    unacknowledged_ -= of.flying();
    if (of.slot) peers_.at(of.card).free_slots.push_back(*of.slot);
    if (const auto queue = queues_.find(of.queue_pair); queue != queues_.end())
        queue->second.messages.erase(message);
    requests_.erase(message);
}

void packet_sender::count(const request& of, status how) {
    ++counters_.completed;
    counters_.failed += how != status::ok;
    const bool good = how == status::ok;
    objects_.count(objects_.queue_pairs.find(of.queue_pair), [&](traffic_counters& to) {
        switch (of.op) {
        case operation::send:
            ++to.messages.sends;
            if (good) to.messages.send_bytes += of.length;
            return;
        case operation::rdma_read:
            ++to.rdma_read.requests;
            to.rdma_read.errors += !good;
            if (good) to.rdma_read.bytes += of.length;
            return;
        case operation::rdma_write:
            ++to.rdma_write.requests;
            to.rdma_write.errors += !good;
            if (good) to.rdma_write.bytes += of.length;
            return;
        case operation::fast_register:
        case operation::fast_invalidate:
            return;
        }
    });
}

// --- packets ---

/// Reads the data of the selected train, and sends it.
packet_sender::progress packet_sender::fill() {
    if (!outgoing_) return progress::idle;
    srd_packet& train = *outgoing_->packet;
    if (train.type == srd_packet::kind::read_response && !answers_reads(train.source_qp)) {
        give_up(status::remote_bad_qp);
        return progress::moved;
    }
    const trace::on_behalf_of it(train.of);
    for (unsigned& i = outgoing_->reading; i < train.train; ++i) {
        const std::uint64_t end = train.end(i, train.data.size());
        if (!train.has(i)) outgoing_->filled = end;
        while (outgoing_->filled < end) {
            switch (read(static_cast<std::uint32_t>(end - outgoing_->filled))) {
            case memory_port::outcome::deferred:
                return progress::blocked;
            case memory_port::outcome::failed:
                give_up(status::remote_bad_address);
                return progress::moved;
            case memory_port::outcome::done:
                break;
            }
        }
        train.at[i] = outgoing_->ready + cfg_.processing;
    }
    dispatch();
    return progress::moved;
}

/// Reads at most `left` of the next bytes of the selected train.
memory_port::outcome packet_sender::read(std::uint32_t left) {
    outgoing& to = *outgoing_;
    const auto from = to.from.at(objects_, to.offset + to.filled, left);
    if (!from) return memory_port::outcome::failed;
    const auto count = access_size(memory_, tlm::TLM_READ_COMMAND, from->bus_address,
                                   static_cast<std::uint32_t>(from->bytes), to.pending);
    auto* const place = &to.packet->data[to.filled];
    const std::uint8_t* lent = nullptr;
    sc_time delay;
    const auto how = to.may_lend
                         ? memory_.borrow(from->bus_address, place, count, to.pending, delay, lent)
                         : memory_.access(tlm::TLM_READ_COMMAND, from->bus_address, place, count,
                                          to.pending, delay);
    if (how != memory_port::outcome::done) return how;
    to.add(lent, count);
    to.ready = std::max(to.ready, sc_core::sc_time_stamp() + delay);
    return how;
}

/// Ends the selected train, whose data cannot be read. `refusal`: of a read by another card.
void packet_sender::give_up(status refusal) {
    auto train = std::move(outgoing_->packet);
    outgoing_.reset();
    if (train->type == srd_packet::kind::read_response) {
        train->swap_ends();  // undoes that of prepare_response(): respond() swaps the ends too
        respond(std::move(train), refusal, sc_core::sc_time_stamp());
    } else if (lookup(train->message) != nullptr) {
        complete(train->message, status::local_bad_lkey, sc_core::sc_time_stamp());
    }
}

/// Sends the selected train.
void packet_sender::dispatch() {
    auto& train = *outgoing_->packet;
    counters_.packets += train.present();
    objects_.count(objects_.by_number(train.source_qp), [&train](traffic_counters& to) {
        to.basic.tx_packets += train.present();
        to.basic.tx_bytes += train.present_share(train.data.size());
    });
    if (outgoing_->lent != nullptr) lend();
    const std::uint64_t message = train.message;
    const bool ends = train.type == srd_packet::kind::send && train.datagram;
    port_.send(std::move(outgoing_->packet));
    outgoing_.reset();
    if (ends && lookup(message) != nullptr) complete(message, status::ok, port_.free());
}

/// Adds bytes that memory has lent (null: they are copied already). Lends only bytes that are
/// together.
void packet_sender::outgoing::add(const std::uint8_t* bytes, std::uint32_t count) {
    if (filled == 0) lent = bytes;
    if (bytes == nullptr || bytes != lent + filled) {
        keep_lent();
        if (bytes != nullptr) std::memcpy(&packet->data[filled], bytes, count);
    }
    filled += count;
}

void packet_sender::outgoing::keep_lent() {
    if (lent != nullptr) std::memcpy(packet->data.data(), lent, filled);
    lent = nullptr;
    may_lend = false;
}

/// Sends the selected train with data in the server's memory, which its program must not change
/// until the request ends.
void packet_sender::lend() {
    request* const of = lookup(outgoing_->packet->message);
    if (of == nullptr) return outgoing_->keep_lent();
    if (of->lent.size() >= 2 * std::size_t{of->packets})  // packets were repeated
        std::erase_if(of->lent, [](const auto& each) { return each.expired(); });
    outgoing_->packet->lend(outgoing_->lent);
    of->lent.emplace_back(outgoing_->packet->lent);
}

/// Copies the data of packets in flight: the program may change its memory from now on.
void packet_sender::keep_lent(request& of) {
    for (const auto& each : of.lent)
        if (const auto still = each.lock()) still->by.keep_lent();
    of.lent.clear();
}

void packet_sender::invalidate(std::uint64_t first, std::uint64_t last) {
    memory_.invalidate(first, last);
    if (outgoing_) outgoing_->keep_lent();
    for (auto& [message, each] : requests_) keep_lent(each);
}

/// Selects the next train: lost packets first, then responses to other cards and the queue pairs'
/// own packets in turn, so that cards that read from each other can still send requests.
packet_sender::progress packet_sender::choose() {
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

packet_sender::progress packet_sender::choose_repeated() {
    while (!repeating_.empty()) {
        const ethernet::address card = repeating_.front();
        peer& to = peers_.at(card);
        const auto number = to.link.next_lost();
        if (!number || !to.link.may_repeat()) {
            repeating_.pop_front();
            to.is_repeating = false;
            reopen(card, to);  // packets of ended requests make room
            continue;
        }
        const connection::packet_name lost = *to.link.find(*number);
        request* const of = lookup(lost.message);
        if (of == nullptr) {
            to.link.finish(*number);
            continue;
        }
        ++counters_.retransmits;
        objects_.count(objects_.queue_pairs.find(of->queue_pair), [&](traffic_counters& by) {
            ++by.network.retransmitted_packets;
            by.network.retransmitted_bytes +=
                of->op == operation::rdma_read ? 0 : std::min(of->length, cfg_.packet);
        });
        const sc_time when = departure();
        to.link.repeat(when);
        set_timer(card, to);
        prepare(*of, {lost.packet, 1, *number, when});
        return progress::moved;
    }
    return progress::idle;
}

/// Selects packets of the next stream whose card's window has room.
packet_sender::progress packet_sender::choose_own() {
    while (!ready_.empty()) {
        const stream_name name = ready_.front();
        ready_.pop_front();
        auto& items = streams_.at(name);
        while (!items.empty() && lookup(items.front().message) == nullptr) items.pop_front();
        if (items.empty()) {
            streams_.erase(name);
            continue;
        }
        request& of = *lookup(items.front().message);
        peer* const to = of.datagram ? nullptr : &peer_of(name.to);
        const std::uint32_t room = to == nullptr ? 1 : to->link.room();
        if (room == 0) {
            to->parked.push_back(name);
            continue;
        }
        const auto single = items.front().packet;
        const std::uint32_t first = single.value_or(of.next);
        const std::uint32_t count = single ? 1 : next_train(of, room);
        const std::uint32_t end = std::max(of.next, first + count);
        unacknowledged_ += end - of.next;
        of.next = end;
        if (single || end == of.packets) items.pop_front();
        if (items.empty())
            streams_.erase(name);
        else
            ready_.push_back(name);
        departing train{first, count, 0, departure()};
        if (to != nullptr) {
            train.number = to->link.send({of.message, first}, count, train.when);
            set_timer(name.to, *to);
        }
        prepare(of, train);
        return progress::moved;
    }
    return progress::idle;
}

/// Number of packets in the next train of a request. Packets with immediate data go alone, because
/// each may be the one that completes the write.
std::uint32_t packet_sender::next_train(const request& of, std::uint32_t room) const {
    if (of.op == operation::send || of.has_immediate) return 1;
    return std::min({max_train_, of.packets - of.next, room});
}

/// When the next packet leaves, unless its data is late (absolute).
sc_time packet_sender::departure() const {
    return std::max(sc_core::sc_time_stamp(), port_.free());
}

/// Makes a train of packets of a request; fill() sends it.
void packet_sender::prepare(request& of, const departing& train) {
    const queue_pair& qp = *objects_.queue_pairs.find(of.queue_pair);
    const std::uint32_t per_packet = of.op == operation::send ? cfg_.mtu : cfg_.packet;
    auto packet = packet_pool::take();
    packet->type = of.op == operation::send        ? srd_packet::kind::send
                   : of.op == operation::rdma_read ? srd_packet::kind::read_request
                                                   : srd_packet::kind::write;
    packet->source = port_.address();
    packet->destination = of.card;
    packet->of = of.slice.of;
    packet->datagram = of.datagram;
    packet->has_immediate = of.has_immediate;
    packet->immediate = of.has_immediate ? of.immediate : 0;
    packet->source_qp = qp.number;
    packet->destination_qp = of.destination_qp;
    packet->qkey = of.qkey;
    packet->message = of.message;
    if (!of.datagram) identify(of, train, *packet);
    packet->train = train.count;
    packet->packet_bytes = per_packet;
    packet->packets = of.packets;
    packet->rkey = of.rkey;
    packet->offset = train.first * per_packet;
    packet->address = of.remote + packet->offset;
    packet->bytes = std::min(train.count * per_packet, of.length - packet->offset);
    packet->total = of.length;

    outgoing_.emplace(work_);
    outgoing_->ready = sc_core::sc_time_stamp();
    if (of.op != operation::rdma_read) {
        packet->make_room(packet->bytes);
        if (of.inlined.empty()) {
            outgoing_->from = of.local;
            outgoing_->offset = packet->offset;
            outgoing_->may_lend = !of.datagram;
        } else {
            packet->data.assign(of.inlined.begin(), of.inlined.end());
            outgoing_->filled = packet->bytes;
        }
    }
    outgoing_->packet = std::move(packet);
}

void packet_sender::identify(request& of, const departing& train, srd_packet& packet) {
    peer& to = peers_.at(of.card);
    packet.connection = to.link.id();
    packet.sequence = train.number;
    packet.sent = train.when;
    packet.oldest = to.link.oldest();
    if (!of.has_immediate || of.packets == 1) return;
    if (!of.slot && to.free_slots.empty()) {
        of.slot = to.next_slot++;
    } else if (!of.slot) {
        of.slot = to.free_slots.back();
        to.free_slots.pop_back();
    }
    packet.slot = *of.slot;
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
    outgoing_->from = memory_walk(qp->domain, memory_access::remote_read, {&asked, 1});
    packet->type = srd_packet::kind::read_response;
    packet->make_room(packet->bytes);
    packet->swap_ends();
    objects_.count(qp, [&packet](traffic_counters& to) {
        to.rdma_read.response_bytes += packet->present_share(packet->bytes);
    });
    outgoing_->packet = std::move(packet);
}

void packet_sender::respond(std::unique_ptr<srd_packet> to, status how, const sc_time& ready) {
    to->answer(how);
    const trace::on_behalf_of it(to->of);
    const sc_time now = sc_core::sc_time_stamp();
    const sc_time busy = port_.free();
    to->at[0] = std::max(now, ready) + cfg_.processing;
    port_.send(std::move(to));
    port_.hold_until(std::max(busy, now));  // responses are short: they do not delay data
}

void packet_sender::responded(std::unique_ptr<srd_packet> response) {
    take_answer(*response, response->answered, response->missing, response->result,
                sc_core::sc_time_stamp());
    packet_pool::give(std::move(response));
}

const packet_sender::request* packet_sender::reader(srd_packet& response) {
    peer* const from = find_peer(response.source);
    if (from == nullptr || from->link.id() != response.connection) return nullptr;
    for (unsigned i = 0; i < response.train; ++i)
        if (response.has(i) && from->link.find(response.sequence + i) == nullptr) response.lose(i);
    return response.present() == 0 ? nullptr : lookup(response.message);
}

void packet_sender::data_arrived(const srd_packet& response, status how, const sc_time& when) {
    take_answer(response, response.train, response.lost, how, when);
}

/// Packets of another card are answered: `count` from number answer.sequence on, except packet i
/// for each bit i of `missing`. The last of their data is in memory at `when` (absolute).
void packet_sender::take_answer(const srd_packet& answer, std::uint32_t count, std::uint8_t missing,
                                status how, const sc_time& when) {
    peer* const from = find_peer(answer.source);
    if (from == nullptr || from->link.id() != answer.connection) return;
    std::array<std::uint32_t, ethernet::frame::max_train> packets{};
    std::uint32_t fresh = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto* const each = from->link.find(answer.sequence + i);
        if (each == nullptr || (missing >> i & 1) != 0) continue;
        packets[fresh++] = each->packet;
        from->link.finish(answer.sequence + i, answer.sent);
    }
    from->link.answered(answer.sent, fresh);
    request* const of = fresh == 0 ? nullptr : lookup(answer.message);
    if (of != nullptr && how == status::remote_not_ready) {
        refused(*of, packets[0]);
    } else if (of != nullptr) {
        if (of->takes_receive()) release(receiver_of(*of), 2, false);
        if (how == status::ok)
            for (std::uint32_t i = 0; i < fresh; ++i) finish_packet(*of, packets[i]);
        if (how != status::ok || of->left == 0) complete(answer.message, how, when);
    }
    set_timer(answer.source, *from);
    reopen(answer.source, *from);
}

void packet_sender::finish_packet(request& of, std::uint32_t number) {
    --of.left;
    --unacknowledged_;
    if (number < of.furthest) ++counters_.out_of_order;
    of.furthest = std::max(of.furthest, number);
}

}  // namespace trn::efa_transport

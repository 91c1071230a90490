// SPDX-License-Identifier: Apache-2.0
#include "models/efa_transport/packet_sender.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "models/efa_transport/access_size.h"
#include "models/efa_transport/packet_pool.h"

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

constexpr std::size_t fetched_ahead = 256;  // work requests per queue pair
// Limit over all fetched requests; at the limit, the card fetches none until requests end.
constexpr std::uint64_t max_packets = 1 << 20;
const sc_time read_ahead(4, sc_core::SC_US);  // lead time of a train's reads
// Sending time of a train. Bytes are in the receiver's memory before their arrival by at most this
// and the difference between paths.
constexpr double max_train_seconds = 1.5e-6;

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
          1u, ethernet::frame::max_train)) {
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
    deadlines_.clear();
    resend_.clear();
    peer_reads_.clear();
    unacknowledged_ = 0;
    packets_ = 0;
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
    const std::vector<std::uint64_t> ended(found->second.messages.begin(),
                                           found->second.messages.end());
    for (const std::uint64_t message : ended) {
        if (flushes) {
            complete(message, status::flushed, sc_core::sc_time_stamp());
            continue;
        }
        keep_lent(requests_.at(message));
        unacknowledged_ -= requests_.at(message).flying;
        packets_ -= requests_.at(message).packets.size();
        const trace::on_behalf_of it(requests_.at(message).slice.of);
        if (trace::on()) trace::end(requests_.at(message).slice, name(), "dropped");
        requests_.erase(message);
    }
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
}

packet_sender::request* packet_sender::lookup(std::uint64_t message) {
    const auto at = requests_.find(message);
    return at == requests_.end() ? nullptr : &at->second;
}

const packet_sender::request* packet_sender::find(std::uint64_t message) const {
    return const_cast<packet_sender*>(this)->lookup(message);
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
        if (how == progress::blocked) return;
        if (how == progress::idle) break;
    }
    if (!deadlines_.empty()) work_.notify(deadlines_.front().deadline - sc_core::sc_time_stamp());
}

sc_time packet_sender::timeout() const {
    return std::max(cfg_.retransmit, round_trip_ * 4.0);
}

void packet_sender::expire() {
    const sc_time now = sc_core::sc_time_stamp();
    for (; !deadlines_.empty(); deadlines_.pop_front()) {
        const expected due = deadlines_.front();
        const request* const of = find(due.message);
        if (of == nullptr) continue;
        for (std::uint32_t n = due.first; n < due.first + due.count; ++n) {
            const auto& state = of->packets[n];
            if (state.done || state.deadline != due.deadline) continue;
            if (due.deadline > now) return;
            if (!repeat(*of, n)) break;
        }
    }
}

/// Repeats a packet that has missed its deadline. False: this was its last try, and its request has
/// ended.
bool packet_sender::repeat(const request& of, std::uint32_t packet) {
    queue_pair* const qp = objects_.queue_pairs.find(of.queue_pair);
    const unsigned tries = of.packets[packet].tries;
    if (tries > 0) objects_.count(qp, [](traffic_counters& to) { ++to.network.timeouts; });
    if (tries <= cfg_.retries) {
        resend_.push_back({of.message, packet});
        return true;
    }
    objects_.count(qp, [](traffic_counters& to) { ++to.network.unresponsive_remotes; });
    complete(of.message,
             responsive_.contains(of.card) ? status::local_unresponsive_remote
                                           : status::local_unreachable_remote,
             sc_core::sc_time_stamp());
    return false;
}

// --- work requests ---

packet_sender::progress packet_sender::fetch() {
    if (packets_ >= max_packets) return progress::idle;
    for (auto& [handle, queue] : queues_) {
        queue_pair* const qp = objects_.queue_pairs.find(handle);
        if (qp == nullptr || qp->sends_fetched == qp->sends_posted) continue;
        const bool fetches =
            qp->state == efa_objects::qp_state::rts || qp->state == efa_objects::qp_state::error;
        if (!fetches || queue.messages.size() >= fetched_ahead) continue;
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
    added.left = std::max(1u, (added.length + per_packet - 1) / per_packet);
    added.packets.resize(added.left);
    packets_ += added.left;
    queue.unsent.push_back(message);
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
    const auto found = requests_.find(message);
    request& of = found->second;
    const trace::on_behalf_of it(of.slice.of);
    keep_lent(of);
    unacknowledged_ -= of.flying;
    packets_ -= of.packets.size();
    count(of, how);
    const queue_pair* const qp = objects_.queue_pairs.find(of.queue_pair);
    // Like verbs, reports a failed request even if it is unsignalled.
    if (qp != nullptr && (of.wants_completion || how != status::ok))
        completions_.post(*qp, completions::send_done{.id = of.id, .how = how, .op = of.op}, when);
    if (trace::on())
        trace::end(of.slice, name(), "completed", {{"status", static_cast<unsigned>(how)}});
    if (const auto queue = queues_.find(of.queue_pair); queue != queues_.end()) {
        queue->second.messages.erase(message);
        std::erase(queue->second.unsent, message);
    }
    requests_.erase(found);
    wake();
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
    const trace::on_behalf_of it(train.of);
    for (unsigned& i = outgoing_->reading; i < train.train; ++i) {
        const std::uint64_t end = train.end(i, train.data.size());
        if (!train.has(i)) outgoing_->filled = end;
        while (outgoing_->filled < end) {
            switch (read(static_cast<std::uint32_t>(end - outgoing_->filled))) {
            case memory_port::outcome::deferred:
                return progress::blocked;
            case memory_port::outcome::failed:
                give_up();
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

/// Ends the selected train, whose data cannot be read.
void packet_sender::give_up() {
    auto train = std::move(outgoing_->packet);
    outgoing_.reset();
    if (train->type == srd_packet::kind::read_response) {
        train->swap_ends();  // undoes that of prepare_response(): respond() swaps the ends too
        respond(std::move(train), status::remote_bad_address, sc_core::sc_time_stamp());
    } else if (find(train->message) != nullptr) {
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
    if (ends && find(message) != nullptr) complete(message, status::ok, port_.free());
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
    if (of->lent.size() >= 2 * of->packets.size())  // packets were repeated
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
    while (!resend_.empty()) {
        const packet_name name = resend_.front();
        resend_.pop_front();
        request* const of = lookup(name.message);
        if (of == nullptr || of->packets[name.packet].done) continue;
        if (of->packets[name.packet].tries > 0) {
            ++counters_.retransmits;
            objects_.count(objects_.queue_pairs.find(of->queue_pair), [&](traffic_counters& to) {
                ++to.network.retransmitted_packets;
                to.network.retransmitted_bytes +=
                    of->op == operation::rdma_read ? 0 : std::min(of->length, cfg_.packet);
            });
        }
        prepare(*of, name.packet, 1);
        return progress::moved;
    }
    const bool own_turn = std::exchange(answered_, false);
    if (own_turn && choose_own() == progress::moved) return progress::moved;
    if (!peer_reads_.empty()) {
        answered_ = true;
        prepare_response();
        return progress::moved;
    }
    return own_turn ? progress::idle : choose_own();
}

/// Selects packets of the next queue pair in round-robin order.
packet_sender::progress packet_sender::choose_own() {
    if (unacknowledged_ >= cfg_.window || queues_.empty()) return progress::idle;
    auto at = queues_.upper_bound(turn_);
    for (std::size_t i = 0; i < queues_.size(); ++i, ++at) {
        if (at == queues_.end()) at = queues_.begin();
        auto& unsent = at->second.unsent;
        if (unsent.empty()) continue;
        turn_ = at->first;
        request& of = requests_.at(unsent.front());
        const std::uint32_t first = of.next, count = next_train(of);
        of.next += count;
        if (of.next == of.packets.size()) unsent.pop_front();
        of.flying += count;
        unacknowledged_ += count;
        prepare(of, first, count);
        return progress::moved;
    }
    return progress::idle;
}

/// Number of packets in the next train of a request. Packets with immediate data go alone, because
/// they take effect once.
std::uint32_t packet_sender::next_train(const request& of) const {
    if (of.op == operation::send || of.has_immediate) return 1;
    const auto left = static_cast<std::uint32_t>(of.packets.size()) - of.next;
    return std::min({max_train_, left, cfg_.window - unacknowledged_});
}

/// Adds a time-out. Deadlines are nearly in ascending order.
void packet_sender::expect(const expected& added) {
    const auto at =
        deadlines_.empty() || deadlines_.back().deadline <= added.deadline
            ? deadlines_.end()
            : std::ranges::upper_bound(deadlines_, added.deadline, {}, &expected::deadline);
    deadlines_.insert(at, added);
}

/// Makes a train of `count` packets of a request from packet `first` on; fill() sends it.
void packet_sender::prepare(request& of, std::uint32_t first, std::uint32_t count) {
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
    packet->oldest = *queues_.at(of.queue_pair).messages.begin();
    packet->train = count;
    packet->packet_bytes = per_packet;
    packet->number = first;
    packet->packets = static_cast<std::uint32_t>(of.packets.size());
    packet->rkey = of.rkey;
    packet->offset = first * per_packet;
    packet->address = of.remote + packet->offset;
    packet->bytes = std::min(count * per_packet, of.length - packet->offset);
    packet->total = of.length;

    const sc_time now = sc_core::sc_time_stamp();
    // Responses to earlier requests arrive first.
    sc_time deadline = std::max(now, port_.free()) + timeout();
    if (of.op == operation::rdma_read)
        deadline += sc_time(static_cast<double>(unacknowledged_) * cfg_.packet /
                                static_cast<double>(port_.bytes_per_second()),
                            sc_core::SC_SEC);
    for (auto& state : std::span(of.packets).subspan(first, count)) {
        ++state.tries;
        state.sent = now;
        state.deadline = deadline;
    }
    if (!of.datagram) expect({deadline, of.message, first, count});

    outgoing_.emplace(work_);
    outgoing_->ready = now;
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

// --- for other cards ---

void packet_sender::answer_read(std::unique_ptr<srd_packet> asked) {
    peer_reads_.push_back(std::move(asked));
    wake();
}

void packet_sender::prepare_response() {
    auto packet = std::move(peer_reads_.front());
    peer_reads_.pop_front();
    queue_pair* const qp = objects_.by_number(packet->destination_qp);
    outgoing_.emplace(work_);
    outgoing_->ready = sc_core::sc_time_stamp();
    const memory_walk::element asked{packet->rkey, packet->address, packet->bytes};
    outgoing_->from = memory_walk(qp == nullptr ? std::uint16_t{0} : qp->domain,
                                  memory_access::remote_read, {&asked, 1});
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
    take_response(*response);
    packet_pool::give(std::move(response));
}

void packet_sender::take_response(const srd_packet& response) {
    responsive_.insert(response.source);
    request* const of = lookup(response.message);
    if (of == nullptr || response.number >= of->next) return;
    if (response.result == status::ok)
        return finished(response.message, response.number, response.answered, response.missing,
                        sc_core::sc_time_stamp());
    if (response.result != status::remote_not_ready) return fail(response.message, response.result);
    const queue_pair& qp = *objects_.queue_pairs.find(of->queue_pair);
    auto& state = of->packets[response.number];
    if (state.done) return;
    if (qp.rnr_retry != queue_pair::rnr_for_ever && ++of->not_ready > qp.rnr_retry)
        return fail(response.message, status::remote_not_ready);
    state.tries = 0;
    state.deadline = sc_core::sc_time_stamp() + cfg_.not_ready;
    expect({state.deadline, response.message, response.number, 1});
    wake();
}

void packet_sender::fail(std::uint64_t message, status why) {
    if (find(message) != nullptr) complete(message, why, sc_core::sc_time_stamp());
}

void packet_sender::finished(std::uint64_t message, std::uint32_t first, std::uint32_t count,
                             std::uint8_t missing, const sc_time& when) {
    request* const of = lookup(message);
    if (of == nullptr) return;
    const bool was_full = unacknowledged_ >= cfg_.window;
    for (std::uint32_t i = 0; i < count && first + i < of->next; ++i)
        if ((missing >> i & 1) == 0) finish_packet(*of, first + i);
    if (of->left == 0)
        complete(message, status::ok, when);
    else if (was_full)  // otherwise the process waits for another event
        wake();
}

void packet_sender::finish_packet(request& of, std::uint32_t number) {
    auto& state = of.packets[number];
    if (state.done) return;
    state.done = true;
    --of.left;
    --of.flying;
    --unacknowledged_;
    if (number < of.furthest) ++counters_.out_of_order;
    of.furthest = std::max(of.furthest, number);
    if (state.tries != 1) return;
    const sc_time taken = sc_core::sc_time_stamp() - state.sent;
    round_trip_ =
        round_trip_ == sc_core::SC_ZERO_TIME ? taken : round_trip_ * 0.875 + taken * 0.125;
}

}  // namespace trn::efa_transport

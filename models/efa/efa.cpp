// SPDX-License-Identifier: Apache-2.0
#include "models/efa/efa.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>
#include <utility>

#include "models/efa/efa_regs.h"

namespace trn {

using namespace efa_regs;
using entry_reg = efa_entry_regs::reg;
using sc_core::sc_time;

namespace {

constexpr std::uint32_t piece = 4096;         // bytes of one memory access
constexpr unsigned fetched_ahead = 64;        // work requests of a queue pair
const sc_time read_ahead(4, sc_core::SC_US);  // how long before its turn a packet is read

/// An entry of a queue pair's rings, in words.
using request_entry =
    std::array<std::uint32_t, efa_entry_regs::offset(entry_reg::completion_id) / 4>;
using completion_entry =
    std::array<std::uint32_t, efa_entry_regs::size / 4 - std::tuple_size_v<request_entry>>;

std::uint32_t& word(completion_entry& entry, entry_reg r) {
    return entry[efa_entry_regs::offset(r) / 4 - std::tuple_size_v<request_entry>];
}

std::string_view text(efa::opcode what) {
    switch (what) {
    case efa::opcode::write:
        return "write";
    case efa::opcode::read:
        return "read";
    case efa::opcode::notify:
        return "notify";
    }
    return "unknown";
}

/// Whether number a comes behind number b; they wrap.
bool behind(std::uint32_t a, std::uint32_t b) {
    return static_cast<std::int32_t>(a - b) > 0;
}

}  // namespace

std::uint64_t efa::config::bytes_per_second() const {
    if (rate != 0) return rate;
    switch (generation) {
    case efa_generation::v2:
        return 12'500'000'000;
    case efa_generation::v3:
        return 25'000'000'000;
    case efa_generation::v4:
        break;
    }
    return 50'000'000'000;
}

efa::efa(sc_core::sc_module_name name, const config& cfg)
    : sc_module(name),
      cfg_(cfg),
      regs_(efa_regs::table),
      lane_({cfg.bytes_per_second(), sc_core::SC_ZERO_TIME}),
      pairs_(queue_pairs) {
    dma.register_invalidate_direct_mem_ptr(this, &efa::revoke);
    SC_METHOD(transmit);
    sensitive << work_;
    dont_initialize();
    SC_METHOD(receive);
    sensitive << arrival_;
    dont_initialize();

    const auto half = [](const std::uint64_t& of, unsigned shift) {
        return [&of, shift](unsigned, unsigned) { return of >> shift & 0xffff'ffff; };
    };
    regs_.view(reg::status, [this](unsigned, unsigned) {
        return net.joined() ? efa_regs::status::up.mask() : std::uint64_t{0};
    });
    regs_.view(reg::address, [this](unsigned, unsigned) { return std::uint64_t{address_}; });
    regs_.view(reg::rate, [this](unsigned, unsigned) { return cfg_.bytes_per_second() / 125'000; });
    regs_.view(reg::tx_bytes_lo, half(counters_.sent, 0));
    regs_.view(reg::tx_bytes_hi, half(counters_.sent, 32));
    regs_.view(reg::rx_bytes_lo, half(counters_.received, 0));
    regs_.view(reg::rx_bytes_hi, half(counters_.received, 32));
    regs_.view(reg::retransmits, half(counters_.retransmits, 0));
    regs_.on_write(reg::control, [this](register_access& a) {
        if (control::reset.get(a.written) != 0) forget();
        regs_[reg::control] = 0;
    });
    for (const reg r : {reg::irq_status, reg::irq_enable})
        regs_.on_write(r, [this](register_access&) { update_irq(); });
    regs_.on_write(reg::qp_state, [this](register_access& a) { start_pair(a.index, a.written); });
    regs_.on_write(reg::qp_sq_tail, [this](register_access& a) { doorbell(a.index, a.written); });
}

void efa::revoke(sc_dt::uint64 first, sc_dt::uint64 last) {
    for (auto* each : {&out_memory_, &in_memory_, &notice_memory_}) each->invalidate(first, last);
}

// --- registers ---

std::uint64_t efa::wide(reg low, reg high, unsigned index) const {
    return regs_.get(high, index) << 32 | regs_.get(low, index);
}

void efa::update_irq() {
    irq.set((regs_[reg::irq_status] & regs_[reg::irq_enable]) != 0);
}

void efa::forget() {
    for (auto& each : pairs_) {
        if (each != nullptr) drop_works(*each);
        each.reset();
    }
    outgoing_.reset();
    deadlines_.clear();
    again_.clear();
    asked_.clear();
    arrived_.clear();
    arrivals_.clear();
    notices_.clear();
    stored_ = 0;
    for (auto* each : {&out_later_, &in_later_, &notice_later_}) each->abandon();
    regs_.reset();
    update_irq();
}

void efa::start_pair(unsigned index, std::uint64_t written) {
    if (pairs_[index] != nullptr) drop_works(*pairs_[index]);
    pairs_[index].reset();
    regs_.set(reg::qp_sq_tail, 0, index);
    regs_.set(reg::qp_head, 0, index);
    regs_.set(reg::qp_state, 0, index);
    if (qp_state::run.get(written) == 0) return;
    const auto entries = regs_.get(reg::qp_entries, index);
    if (!std::has_single_bit(entries) || entries > max_entries)
        return regs_.set(qp_state::error, 1, index);
    regs_.set(qp_state::run, 1, index);
    pairs_[index] = std::make_unique<pair>();
    pairs_[index]->running = true;
    // An acknowledgement of what was forgotten must not be taken for one of what is to come.
    next_message_[index] = (next_message_[index] | 0xffff) + 1;
}

void efa::drop_works(pair& of) {
    for (auto& each : of.works) {
        unacknowledged_ -= each.flying;
        const trace::on_behalf_of it(each.slice.of);
        if (trace::on()) trace::end(each.slice, name(), "dropped");
    }
    of.works.clear();
}

void efa::fail_pair(unsigned index) {
    drop_works(*pairs_[index]);
    pairs_[index]->running = false;
    regs_.set(qp_state::run, 0, index);
    regs_.set(qp_state::error, 1, index);
}

void efa::doorbell(unsigned index, std::uint64_t written) {
    if (pairs_[index] == nullptr || !pairs_[index]->running) return;
    pair& queue = *pairs_[index];
    const auto added = static_cast<std::uint16_t>(written - queue.tail);
    queue.tail = static_cast<std::uint16_t>(written);
    if (static_cast<std::uint16_t>(queue.tail - queue.head) > regs_.get(reg::qp_entries, index))
        return fail_pair(index);
    if (trace::on() && added != 0) {
        queue.posted.emplace_back(trace::current_or_new_operation(), added);
        const trace::on_behalf_of it(queue.posted.back().first);
        trace::event(name(), "doorbell", {{"queue", index}, {"count", added}});
    }
    work_.notify(sc_core::SC_ZERO_TIME);
}

// --- sending ---

/// All that there is to do now; state decides, the event only wakes.
void efa::transmit() {
    for (;;) {
        expire();
        if (tell() == progress::blocked) return next_trigger(*notice_later_.ready);
        auto how = fill();
        if (how == progress::idle) how = complete();
        if (how == progress::idle) how = fetch();
        if (how == progress::idle) {
            const sc_time now = sc_core::sc_time_stamp();
            if (lane_free_ > now + read_ahead) {
                work_.notify(lane_free_ - read_ahead - now);
                break;
            }
            how = choose();
        }
        if (how == progress::blocked) return next_trigger(*out_later_.ready);
        if (how == progress::idle) break;
    }
    const sc_time now = sc_core::sc_time_stamp();
    if (!deadlines_.empty()) work_.notify(deadlines_.begin()->first - now);
    if (!notices_.empty()) work_.notify(notices_.begin()->first - now);
}

sc_time efa::patience() const {
    return std::max(cfg_.retransmit, round_trip_ * 4.0);
}

void efa::expire() {
    const sc_time now = sc_core::sc_time_stamp();
    while (!deadlines_.empty() && deadlines_.begin()->first <= now) {
        const packet_name late = deadlines_.begin()->second;
        deadlines_.erase(deadlines_.begin());
        work* of = find(late.pair, late.message);
        if (of == nullptr || of->over() || of->packets[late.packet].done) continue;
        if (of->packets[late.packet].tries > cfg_.retries)
            fail(*of, status::unreachable);
        else
            again_.push_back(late);
    }
}

efa::work* efa::find(unsigned index, std::uint32_t message) {
    if (index >= queue_pairs || pairs_[index] == nullptr) return nullptr;
    auto& works = pairs_[index]->works;
    if (works.empty()) return nullptr;
    const std::uint32_t place = message - works.front().number;
    return place < works.size() ? &works[place] : nullptr;
}

void efa::fail(work& of, status why) {
    of.result = why;
    unacknowledged_ -= std::exchange(of.flying, 0);
    work_.notify(sc_core::SC_ZERO_TIME);
}

/// Reads the data of the packet that was chosen, and sends it.
efa::progress efa::fill() {
    if (!outgoing_) return progress::idle;
    frame& what = *outgoing_->what;
    const trace::on_behalf_of it(what.of);
    while (outgoing_->filled < what.data.size()) {
        const auto count =
            std::min(piece, static_cast<std::uint32_t>(what.data.size()) - outgoing_->filled);
        sc_time delay;
        switch (out_memory_.access(tlm::TLM_READ_COMMAND, outgoing_->from + outgoing_->filled,
                                   &what.data[outgoing_->filled], count, out_later_, delay)) {
        case memory_port::outcome::deferred:
            return progress::blocked;
        case memory_port::outcome::failed:
            if (what.what == frame::kind::response)
                reply(what, frame::kind::refused);
            else if (work* of = find(what.queue_pair, what.message))
                fail(*of, status::local_access);
            outgoing_.reset();
            return progress::moved;
        case memory_port::outcome::done:
            break;
        }
        outgoing_->filled += count;
        outgoing_->ready = std::max(outgoing_->ready, sc_core::sc_time_stamp() + delay);
    }
    ++counters_.packets;
    counters_.sent += what.data.size();
    put_on_wire(std::move(outgoing_->what), outgoing_->ready + cfg_.processing);
    outgoing_.reset();
    return progress::moved;
}

void efa::put_on_wire(frame_pointer what, const sc_time& ready) {
    const sc_time now = sc_core::sc_time_stamp();
    const bool timed = timing() == timing_mode::contended;
    const sc_time end = lane_.reserve(what->data.size() + frame::overhead, timed ? ready : now);
    lane_free_ = end;
    ethernet::carrier carrier(std::move(what));
    tlm::tlm_generic_payload payload;
    payload.set_extension(&carrier);
    sc_time delay = end - now;
    net.send(payload, delay);
    payload.clear_extension(&carrier);
}

/// An entry of a queue pair's rings. The pair fails with an access that memory refuses.
efa::progress efa::access_ring(tlm::tlm_command command, unsigned index, std::uint64_t at,
                               std::span<std::uint32_t> entry) {
    sc_time delay;
    switch (out_memory_.access(command, at, entry.data(),
                               static_cast<std::uint32_t>(entry.size_bytes()), out_later_, delay)) {
    case memory_port::outcome::deferred:
        return progress::blocked;
    case memory_port::outcome::failed:
        fail_pair(index);
        return progress::failed;
    case memory_port::outcome::done:
        break;
    }
    return progress::moved;
}

efa::progress efa::complete() {
    for (unsigned i = 0; i < queue_pairs; ++i) {
        if (pairs_[i] == nullptr || pairs_[i]->works.empty()) continue;
        if (pairs_[i]->works.front().over()) return complete_one(i);
    }
    return progress::idle;
}

/// Completions come in the order of the requests, whatever the order of their packets.
efa::progress efa::complete_one(unsigned index) {
    pair& queue = *pairs_[index];
    work& oldest = queue.works.front();
    const trace::on_behalf_of it(oldest.slice.of);
    const auto entries = static_cast<std::uint32_t>(regs_.get(reg::qp_entries, index));
    namespace completion = efa_entry_regs::completion;
    auto outcome = completion::status.set(0, static_cast<unsigned>(oldest.result));
    outcome = completion::opcode.set(outcome, static_cast<unsigned>(oldest.what));
    outcome = completion::phase.set(outcome, (queue.head / entries & 1) == 0);
    completion_entry entry{};
    word(entry, entry_reg::completion_id) = oldest.id;
    word(entry, entry_reg::completion) = static_cast<std::uint32_t>(outcome);
    word(entry, entry_reg::completion_length) = oldest.length;
    word(entry, entry_reg::completion_queue_pair) = index;
    const auto ring = wide(reg::qp_cq_base_lo, reg::qp_cq_base_hi, index);
    const auto how = access_ring(tlm::TLM_WRITE_COMMAND, index,
                                 ring + std::uint64_t{queue.head % entries} * sizeof entry, entry);
    if (how != progress::moved) return how;
    ++counters_.completions;
    counters_.failures += oldest.result != status::ok;
    const auto told = wide(reg::qp_notify_lo, reg::qp_notify_hi, index);
    if (told != 0 && oldest.result == status::ok)
        announce({told, 1, oldest.slice.of}, sc_core::sc_time_stamp());
    if (trace::on())
        trace::end(oldest.slice, name(), "completed",
                   {{"queue", index}, {"status", static_cast<unsigned>(oldest.result)}});
    queue.works.pop_front();
    ++queue.head;
    regs_.set(reg::qp_head, queue.head, index);
    regs_.set(irq_status::completion, 1);
    update_irq();
    return progress::moved;
}

efa::progress efa::fetch() {
    for (unsigned i = 0; i < queue_pairs; ++i) {
        if (pairs_[i] == nullptr || !pairs_[i]->running) continue;
        if (pairs_[i]->fetched != pairs_[i]->tail && pairs_[i]->works.size() < fetched_ahead)
            return fetch_one(i);
    }
    return progress::idle;
}

efa::progress efa::fetch_one(unsigned index) {
    pair& queue = *pairs_[index];
    const auto entries = static_cast<std::uint32_t>(regs_.get(reg::qp_entries, index));
    const auto ring = wide(reg::qp_sq_base_lo, reg::qp_sq_base_hi, index);
    request_entry entry{};
    const trace::on_behalf_of it(queue.posted.empty() ? 0 : queue.posted.front().first);
    const auto how =
        access_ring(tlm::TLM_READ_COMMAND, index,
                    ring + std::uint64_t{queue.fetched % entries} * sizeof entry, entry);
    if (how != progress::moved) return how;
    ++queue.fetched;
    if (!queue.posted.empty() && --queue.posted.front().second == 0) queue.posted.pop_front();
    work& added = queue.works.emplace_back();
    added.number = next_message_[index]++;
    const auto word = [&entry](entry_reg r) { return entry[efa_entry_regs::offset(r) / 4]; };
    const auto address = [&](entry_reg low, entry_reg high) {
        return word(low) | std::uint64_t{word(high)} << 32;
    };
    const auto what = word(entry_reg::request), card = word(entry_reg::request_card);
    namespace request = efa_entry_regs::request;
    namespace request_card = efa_entry_regs::request_card;
    added.what = static_cast<opcode>(request::opcode.get(what));
    added.region = static_cast<std::uint16_t>(request::region.get(what));
    added.card = static_cast<ethernet::address>(request_card::address.get(card));
    added.id = word(entry_reg::request_id);
    added.length = word(entry_reg::request_length);
    added.local = address(entry_reg::request_local_lo, entry_reg::request_local_hi);
    added.remote = address(entry_reg::request_remote_lo, entry_reg::request_remote_hi);
    const bool notify = added.what == opcode::notify;
    const bool known = added.what == opcode::write || added.what == opcode::read || notify;
    if (!known || (added.length == 0 && !notify) || added.length > longest) {
        added.result = status::bad_request;
    } else {
        added.left = std::max(1u, (added.length + cfg_.packet - 1) / cfg_.packet);
        added.packets.resize(added.left);
    }
    if (notify)
        added.notice = {.packets = added.left,
                        .region = static_cast<std::uint16_t>(request_card::notice_region.get(card)),
                        .at = address(entry_reg::request_notice_lo, entry_reg::request_notice_hi),
                        .value = word(entry_reg::request_value)};
    if (trace::on())
        added.slice = trace::begin(
            name(), text(added.what),
            {{"queue", index}, {"id", added.id}, {"bytes", added.length}, {"card", added.card}});
    // The card cannot know what it has not read yet: later packets of this pair wait as long.
    lane_free_ = std::max(lane_free_, sc_core::sc_time_stamp());
    return progress::moved;
}

/// What is sent next: packets that were lost, then what others asked for and what the queue pairs
/// have, in turn: who reads must not stop asking because it is asked itself.
efa::progress efa::choose() {
    while (!again_.empty()) {
        const packet_name name = again_.front();
        again_.pop_front();
        work* of = find(name.pair, name.message);
        if (of == nullptr || of->over() || of->packets[name.packet].done) continue;
        ++counters_.retransmits;
        prepare(name.pair, *of, name.packet);
        return progress::moved;
    }
    const bool own_turn = std::exchange(answered_, false);
    if (own_turn && choose_own() == progress::moved) return progress::moved;
    if (!asked_.empty()) {
        answered_ = true;
        frame_pointer asked = std::move(asked_.front());
        asked_.pop_front();
        outgoing_ = outgoing();
        outgoing_->from = asked->at;
        asked->what = frame::kind::response;
        std::swap(asked->source, asked->destination);
        asked->at = asked->reply_at;
        asked->data.resize(asked->length);
        outgoing_->what = std::move(asked);
        return progress::moved;
    }
    return own_turn ? progress::idle : choose_own();
}

/// The queue pairs in turn.
efa::progress efa::choose_own() {
    if (unacknowledged_ >= cfg_.window) return progress::idle;
    for (unsigned i = 0; i < queue_pairs; ++i) {
        const unsigned index = (turn_ + i) % queue_pairs;
        if (pairs_[index] == nullptr) continue;
        for (auto& each : pairs_[index]->works) {
            if (each.over() || each.next == each.packets.size()) continue;
            turn_ = index + 1;
            ++each.flying;
            ++unacknowledged_;
            prepare(index, each, each.next++);
            return progress::moved;
        }
    }
    return progress::idle;
}

/// Makes a packet of a work request; fill() sends it.
void efa::prepare(unsigned index, work& of, std::uint32_t packet) {
    const std::uint32_t offset = packet * cfg_.packet;
    auto what = std::make_unique<frame>();
    what->what = of.what == opcode::read ? frame::kind::request : frame::kind::write;
    what->source = address_;
    what->destination = of.card;
    what->queue_pair = static_cast<std::uint16_t>(index);
    what->message = of.number;
    what->packet = packet;
    what->region = of.region;
    what->at = of.remote + offset;
    what->reply_at = of.local + offset;
    what->length = std::min(cfg_.packet, of.length - offset);
    what->of = of.slice.of;
    what->notice = of.notice;
    what->notice.oldest = pairs_[index]->works.front().number;
    auto& state = of.packets[packet];
    ++state.tries;
    state.sent = sc_core::sc_time_stamp();
    // What was asked for before comes first.
    const sc_time awaited(of.what == opcode::read
                              ? static_cast<double>(unacknowledged_) * cfg_.packet /
                                    static_cast<double>(cfg_.bytes_per_second())
                              : 0,
                          sc_core::SC_SEC);
    deadlines_.emplace(std::max(state.sent, lane_free_) + awaited + patience(),
                       packet_name{index, of.number, packet});
    if (of.what != opcode::read) what->data.resize(what->length);
    outgoing_ = outgoing();
    outgoing_->from = of.local + offset;
    outgoing_->ready = state.sent;
    outgoing_->what = std::move(what);
}

// --- receiving ---

void efa::received(plug&, tlm::tlm_generic_payload& payload, sc_time&) {
    auto* carrier = payload.get_extension<ethernet::carrier>();
    payload.set_response_status(tlm::TLM_OK_RESPONSE);
    if (carrier == nullptr || carrier->carried == nullptr)
        return payload.set_response_status(tlm::TLM_GENERIC_ERROR_RESPONSE);
    if (carrier->carried->what == frame::kind::hello) {
        address_ = carrier->carried->destination;
        return;
    }
    if (reset.level()) return;  // the frame is dropped
    arrived_.push_back(std::move(carrier->carried));
    arrival_.notify(sc_core::SC_ZERO_TIME);
}

void efa::receive() {
    while (!arrived_.empty()) {
        if (take(arrived_.front()) == progress::blocked) return next_trigger(*in_later_.ready);
        if (!arrived_.empty()) arrived_.pop_front();
    }
}

efa::progress efa::take(frame_pointer& what) {
    switch (what->what) {
    case frame::kind::write:
        if (!allowed(*what, true)) {
            reply(*what, frame::kind::refused);
            return progress::moved;
        }
        if (what->notice.packets != 0 && stored_ == 0 && came_before(*what)) {
            reply(*what, frame::kind::ack);
            return progress::moved;
        }
        return store(*what);
    case frame::kind::response: {
        const work* of = find(what->queue_pair, what->message);
        if (of == nullptr || of->over() || of->packets[what->packet].done) return progress::moved;
        return store(*what);
    }
    case frame::kind::request:
        if (!allowed(*what, false) || what->length > cfg_.packet) {
            reply(*what, frame::kind::refused);
        } else {
            asked_.push_back(std::move(what));
            work_.notify(sc_core::SC_ZERO_TIME);
        }
        return progress::moved;
    case frame::kind::ack:
        done(*what);
        return progress::moved;
    case frame::kind::refused:
        if (work* of = find(what->queue_pair, what->message); of != nullptr && !of->over())
            fail(*of, status::remote_access);
        return progress::moved;
    case frame::kind::hello:
        break;
    }
    return progress::moved;
}

/// Data to where it shall be. A packet that comes twice is written twice: the bytes are the same.
efa::progress efa::store(frame& what) {
    const auto size = static_cast<std::uint32_t>(what.data.size());
    const trace::on_behalf_of it(what.of);
    if (stored_ == 0) stored_at_ = sc_core::sc_time_stamp();
    while (stored_ < size) {
        const auto count = std::min(piece, size - stored_);
        sc_time delay;
        const auto how = in_memory_.access(tlm::TLM_WRITE_COMMAND, what.at + stored_,
                                           &what.data[stored_], count, in_later_, delay);
        if (how == memory_port::outcome::deferred) return progress::blocked;
        if (how == memory_port::outcome::failed) {
            stored_ = 0;
            if (what.what == frame::kind::write)
                reply(what, frame::kind::refused);
            else if (work* of = find(what.queue_pair, what.message))
                fail(*of, status::local_access);
            return progress::moved;
        }
        stored_ += count;
        stored_at_ = std::max(stored_at_, sc_core::sc_time_stamp() + delay);
    }
    stored_ = 0;
    counters_.received += size;
    if (what.notice.packets != 0) count_arrival(what);
    if (what.what == frame::kind::write)
        reply(what, frame::kind::ack);
    else
        done(what);
    return progress::moved;
}

/// A packet that comes twice must not be counted twice, nor written after the announcement, when
/// the memory may be in use for something else.
bool efa::came_before(const frame& what) {
    const auto oldest = what.notice.oldest;
    const auto [at, added] = arrivals_.try_emplace({what.source, what.queue_pair});
    arrivals& from = at->second;
    if (added || behind(oldest, from.oldest)) from.oldest = oldest;
    std::erase_if(from.messages, [&](const auto& m) { return behind(from.oldest, m.first); });
    if (behind(from.oldest, what.message)) return true;
    const auto found = from.messages.find(what.message);
    return found != from.messages.end() &&
           (found->second.left == 0 || found->second.here[what.packet]);
}

void efa::count_arrival(const frame& what) {
    auto& of = arrivals_[{what.source, what.queue_pair}].messages[what.message];
    if (of.here.empty()) {
        of.here.resize(what.notice.packets);
        of.left = what.notice.packets;
    }
    of.here[what.packet] = true;
    if (--of.left != 0) return;
    of.here = {};
    announce({what.notice.at, what.notice.value, what.of}, stored_at_);
}

/// Never before the data that it is about: `when` it is in memory.
void efa::announce(const announcement& what, const sc_time& when) {
    const sc_time now = sc_core::sc_time_stamp();
    notices_.emplace(std::max(when, now), what);
    work_.notify(std::max(when, now) - now);
}

/// Writes the announcements that are due.
efa::progress efa::tell() {
    while (!notices_.empty() && notices_.begin()->first <= sc_core::sc_time_stamp()) {
        announcement& what = notices_.begin()->second;
        const trace::on_behalf_of it(what.of);
        sc_time delay;
        const auto how = notice_memory_.access(tlm::TLM_WRITE_COMMAND, what.at, &what.value,
                                               sizeof what.value, notice_later_, delay);
        if (how == memory_port::outcome::deferred) return progress::blocked;
        ++(how == memory_port::outcome::done ? counters_.notices : counters_.lost_notices);
        notices_.erase(notices_.begin());
    }
    return progress::idle;
}

bool efa::allowed(const frame& what, bool write) const {
    const auto& notice = what.notice;
    if (notice.packets != 0 && (what.packet >= notice.packets ||
                                !in_region(notice.region, notice.at, sizeof notice.value, true)))
        return false;
    if (what.length == 0) return notice.packets != 0;
    return in_region(what.region, what.at, what.length, write);
}

bool efa::in_region(unsigned region, std::uint64_t at, std::uint32_t length, bool write) const {
    if (region >= regions) return false;
    const auto access = regs_.get(reg::region_access, region);
    const auto needed = write ? region_access::write.mask() : region_access::read.mask();
    const auto base = wide(reg::region_base_lo, reg::region_base_hi, region);
    const auto size = wide(reg::region_size_lo, reg::region_size_hi, region);
    return (access & needed) != 0 && at >= base && length <= size && at - base <= size - length;
}

/// Answers a frame without data of its own.
void efa::reply(const frame& what, frame::kind how) {
    auto back = std::make_unique<frame>();
    back->what = how;
    back->source = address_;
    // A response that could not be made has this card as its source already.
    back->destination = what.what == frame::kind::response ? what.destination : what.source;
    back->queue_pair = what.queue_pair;
    back->message = what.message;
    back->packet = what.packet;
    back->of = what.of;
    const trace::on_behalf_of it(what.of);
    const sc_time busy = lane_free_;
    put_on_wire(std::move(back), std::max(sc_core::sc_time_stamp(), stored_at_) + cfg_.processing);
    lane_free_ = std::max(busy, sc_core::sc_time_stamp());  // too short to hold up data
}

void efa::done(const frame& what) {
    work* of = find(what.queue_pair, what.message);
    if (of == nullptr || of->over() || what.packet >= of->packets.size()) return;
    auto& state = of->packets[what.packet];
    if (state.done || state.tries == 0) return;
    state.done = true;
    --of->left;
    --of->flying;
    --unacknowledged_;
    if (what.packet < of->furthest) ++counters_.out_of_order;
    of->furthest = std::max(of->furthest, what.packet);
    if (state.tries == 1) {
        const sc_time taken = sc_core::sc_time_stamp() - state.sent;
        round_trip_ =
            round_trip_ == sc_core::SC_ZERO_TIME ? taken : round_trip_ * 0.875 + taken * 0.125;
    }
    work_.notify(sc_core::SC_ZERO_TIME);
}

// --- for tools ---

std::optional<std::string> efa::describe_wait() const {
    if (unacknowledged_ == 0) return std::nullopt;
    return fmt::format("{} packets not acknowledged", unacknowledged_);
}

void efa::publish(statistics& out) const {
    out.count("bytes_sent", counters_.sent);
    out.count("bytes_received", counters_.received);
    out.count("packets_sent", counters_.packets);
    out.count("retransmits", counters_.retransmits);
    out.count("out_of_order", counters_.out_of_order);
    out.count("completions", counters_.completions);
    out.count("failed_requests", counters_.failures);
    out.count("notices", counters_.notices);
    out.count("lost_notices", counters_.lost_notices);
}

}  // namespace trn

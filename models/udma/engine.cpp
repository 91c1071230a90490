// SPDX-License-Identifier: Apache-2.0
#include "models/udma/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>

#include "models/misuse_rules.h"
#include "models/udma/causes.h"
#include "models/udma/dma_descriptor_regs.h"
#include "models/udma/dma_generator_regs.h"
#include "models/udma/udma_regs.h"
#include "platform/framework/kernel/trace.h"
#include "platform/framework/tlm/backing_store.h"

namespace trn {

namespace regs = udma_regs;
namespace meta = dma_descriptor_regs::m2s_meta;
using regs::reg;
using sc_core::sc_time;

namespace {

constexpr std::uint32_t axi_boundary = 4096;   // no burst crosses it
constexpr std::uint32_t longest_register = 8;  // what is no longer does not ask for DMI
constexpr unsigned primary_d = 3;
constexpr unsigned error_slot = 1;  // of the engine's notification queues; slot 0 has its traces

std::uint32_t to_boundary(std::uint64_t address) {
    return axi_boundary - static_cast<std::uint32_t>(address % axi_boundary);
}

/// Ascending bursts, each read before it is written: what overlapping copies mean.
void copy(std::uint8_t* to, const std::uint8_t* from, std::size_t length) {
    if (to + length <= from || from + length <= to) {
        std::memcpy(to, from, length);
        return;
    }
    for (std::size_t done = 0; done < length; done += axi_boundary)
        std::memmove(to + done, from + done, std::min<std::size_t>(axi_boundary, length - done));
}

reg pick(dma_side side, reg m2s, reg s2m) {
    return side == dma_side::m2s ? m2s : s2m;
}

const char* text(dma_side side) {
    return side == dma_side::m2s ? "m2s" : "s2m";
}

/// Contract 6.1: a length field of 0 means 64 KiB, which the source side can be told not to do.
std::uint32_t length_of(dma_side side, const dma_descriptor& d, bool length_0_is_64k) {
    const bool none = side == dma_side::m2s && (d.words[0] & 0xffff) == 0 && !length_0_is_64k;
    return none ? 0 : d.length();
}

}  // namespace

dma_engine::dma_engine(dma_group& group, unsigned number)
    : group_(group),
      number_(number),
      place_(group.turns.size()),
      mover_({group.times.bytes_per_second, sc_core::SC_ZERO_TIME}) {
    group_.turns.emplace_back();
}

// ---- register side

void dma_engine::doorbell(dma_side side, unsigned number, std::uint32_t count,
                          const sc_time& delay) {
    if (count == 0) return;
    queue_pair& q = queue(number);
    const std::uint32_t length = settings(number).ring_length[side];
    if (length == 0) {  // queues stay enabled with an empty ring after the driver's engine init
        misuse::report(misuse::doorbell_without_ring, group_.owner, name(number));
        return;
    }
    if (q[side].aborted) {
        misuse::report(misuse::doorbell_on_aborted_queue, group_.owner, name(number));
        return;
    }
    dma_ring& ring = q[side].ring;
    const bool could_run = has_work(q) || q.in_flight > 0;
    adopt_length(ring, number, length);
    if (count > ring.length() - ring.pending()) {
        error(side, number,
              side == dma_side::m2s ? cause::m2s_too_many_descriptors : cause::s2m_length_mismatch,
              misuse::doorbell_past_ring,
              fmt::format("{} {} posted to {} pending of {}", text(side), count, ring.pending(),
                          ring.length()),
              true);
        return;
    }
    ring.post(count);
    if (trace::on()) {
        if (side == dma_side::m2s) q.posted.emplace_back(trace::current_or_new_operation(), count);
        const trace::on_behalf_of it(side == dma_side::m2s ? q.posted.back().first
                                                           : trace::current_operation());
        trace::event(row(), "doorbell", {{"queue", number}, {"side", text(side)}, {"count", count}},
                     delay);
    }
    if (side == dma_side::s2m) q.starved_since.reset();
    if (auto started = started_work::current()) q.started = std::move(started);
    if (!could_run) {
        q.ready_at = sc_core::sc_time_stamp() + delay +
                     (timing() == timing_mode::functional ? group_.times.functional_step
                                                          : group_.times.start_latency);
    }
    decide_due();
}

void dma_engine::adopt_length(dma_ring& ring, unsigned number, std::uint32_t length) {
    if (length == ring.length()) return;
    ring.resize(length);
    if (ring.length() != length || length % 16 != 0 || length < 32)
        misuse::report(misuse::ring_shape, group_.owner,
                       fmt::format("{}: length {}", name(number), length));
}

void dma_engine::reset_queue(dma_side side, unsigned number) {
    queue_pair* q = queues_[number].get();
    if (q == nullptr) return;
    drop(number);
    (*q)[side].ring.reset();
    (*q)[side].aborted = false;
    group_.aborts_changed();
    decide_due();
}

void dma_engine::change_state(dma_side side, std::uint64_t written) {
    const auto index = static_cast<unsigned>(side);
    if (regs::m2s_change_state::abort.get(written) != 0) {
        halted_[index] = true;
        for (unsigned n = 0; n < queues; ++n) {
            if (queues_[n]) drop(n);
        }
    } else if (regs::m2s_change_state::disable.get(written) != 0) {
        disabled_[index] = true;
    } else if (regs::m2s_change_state::normal.get(written) != 0) {
        disabled_[index] = halted_[index] = false;
        for (auto& q : queues_) {
            if (q) (*q)[side].aborted = false;
        }
    }
    group_.aborts_changed();
    decide_due();
}

void dma_engine::reset() {
    for (unsigned n = 0; n < queues; ++n) {
        if (queues_[n] == nullptr) continue;
        drop(n);
        for (stream& side : queues_[n]->sides) {
            side.ring.reset();
            side.aborted = false;
        }
    }
    disabled_ = halted_ = {};
    next_queue_ = 0;
    group_.aborts_changed();
    decide_due();
}

void dma_engine::abort(dma_side side, unsigned number) {
    if (trace::on()) trace::event(row(), "abort", {{"queue", number}, {"side", text(side)}});
    queue(number)[side].aborted = true;
    drop(number);
    ++count_.aborts;
    group_.aborts_changed();
    decide_due();
}

void dma_engine::damage_next(dma_side side, unsigned number, std::uint8_t bit) {
    queue(number)[side].damaged_bit = bit;
}

/// Work in flight is forgotten; descriptors not completed go back to their rings.
void dma_engine::drop(unsigned number) {
    if (!flight_.empty() && flight_.front().queue == number) {
        move_later_.abandon();
        in_burst_ = 0;
    }
    for (transfer& t : flight_) t.dropped |= t.queue == number;
    if (!generations_.empty() && generations_.front().queue == number) generate_later_.abandon();
    for (generation& g : generations_) g.dropped |= g.queue == number;
    if (fetching_ && fetching_->queue == number) {
        fetch_later_.abandon();
        fetching_.reset();
    }
    queue_pair& q = *queues_[number];
    for (stream& side : q.sides) {
        side.ring.rewind();
        side.active = false;
    }
    q.packet_bytes = q.packet_descriptors = q.in_flight = 0;
    q.barrier = false;
    q.compute.reset();
    q.starved_since.reset();
    q.posted.clear();
}

const std::string& dma_engine::row() {
    if (row_.empty())
        row_ = fmt::format("{}.engine{}", group_.owner.name(), group_.first_engine + number_);
    return row_;
}

const dma_ring* dma_engine::ring(dma_side side, unsigned number) const {
    return queues_[number] ? &(*queues_[number])[side].ring : nullptr;
}

bool dma_engine::queue_aborted(dma_side side, unsigned number) const {
    return queues_[number] && (*queues_[number])[side].aborted;
}

bool dma_engine::aborted(dma_side side) const {
    return halted_[static_cast<unsigned>(side)] ||
           std::any_of(queues_.begin(), queues_.end(),
                       [side](const auto& q) { return q && (*q)[side].aborted; });
}

bool dma_engine::busy(dma_side side) const {
    return !generations_.empty() ||
           std::any_of(queues_.begin(), queues_.end(),
                       [side](const auto& q) { return q && (*q)[side].ring.pending() > 0; });
}

std::uint64_t dma_engine::owned() const {
    std::uint64_t sum = 0;
    for (const auto& q : queues_)
        if (q && !(*q)[dma_side::m2s].aborted && !(*q)[dma_side::s2m].aborted)
            sum += (*q)[dma_side::m2s].ring.pending() + (*q)[dma_side::s2m].ring.pending();
    return sum;
}

std::optional<std::string> dma_engine::waits_for() const {
    if (generate_later_.ready != nullptr)
        return fmt::format("{}: no response of ring memory to the descriptor generator",
                           name(generations_.front().queue));
    for (unsigned n = 0; n < queues; ++n) {
        if (queues_[n] == nullptr) continue;
        const queue_pair& q = *queues_[n];
        if (fetching_ && fetching_->queue == n)
            return fmt::format("{}: no response of {} ring memory", name(n), text(fetching_->side));
        if (!flight_.empty() && flight_.front().queue == n && move_later_.ready != nullptr)
            return fmt::format("{}: no response of memory at {:#x} or {:#x}", name(n),
                               flight_.front().source, flight_.front().destination);
        const auto m2s = q[dma_side::m2s].ring.pending(), s2m = q[dma_side::s2m].ring.pending();
        if (q[dma_side::m2s].aborted || q[dma_side::s2m].aborted)
            return fmt::format("{}: aborted with {} m2s and {} s2m descriptors left", name(n), m2s,
                               s2m);
        if ((m2s > 0 || s2m > 0) && (q.in_flight == 0) && !runnable(q, n))
            return fmt::format("{}: {} m2s and {} s2m descriptors posted", name(n), m2s, s2m);
    }
    return std::nullopt;
}

// ---- scheduling

void dma_engine::step(dma_budget& budget) {
    for (auto& q : queues_) {
        if (q && q->starved_since) expire_starvation(*q);
    }
    generate_due(budget);
    do complete_due(budget);
    while (!budget.spent() && start_next() != progress::blocked);
    decide_due();
}

void dma_engine::add_wake_events(sc_core::sc_event_or_list& list) const {
    if (move_later_.ready != nullptr) list |= *move_later_.ready;
    if (fetch_later_.ready != nullptr) list |= *fetch_later_.ready;
    if (generate_later_.ready != nullptr) list |= *generate_later_.ready;
}

void dma_engine::decide_due() {
    turn() = {sc_core::sc_max_time(), move_later_.ready != nullptr ||
                                          fetch_later_.ready != nullptr ||
                                          generate_later_.ready != nullptr};
    if (!flight_.empty() && move_later_.ready == nullptr)
        wake_at(flight_.front().dropped ? sc_core::sc_time_stamp() : flight_.front().completes_at);
    if (!generations_.empty() && generate_later_.ready == nullptr)
        wake_at(generations_.front().ready_at);
    const bool may_start = !fetching_ && !full();
    for (unsigned n = 0; n < queues; ++n) {
        if (queues_[n] == nullptr) continue;
        queue_pair& q = *queues_[n];
        if (may_start && runnable(q, n)) wake_at(std::max(q.ready_at, next_start_));
        note_starvation(q);
        if (q.starved_since) wake_at(*q.starved_since + group_.times.stream_timeout);
        release_host(q, n);
    }
    if (turn().waits_for_memory)
        for (generation& g : generations_) g.started = nullptr;
}

/// A host that waits for its doorbell's work is answered when the queue has finished or cannot go
/// on by itself: the other side of the ring is empty, or a memory asks the host first.
void dma_engine::release_host(queue_pair& q, unsigned number) {
    if (!q.started) return;
    if (turn().waits_for_memory || (q.in_flight == 0 && !runnable(q, number))) q.started = nullptr;
}

void dma_engine::wake_at(const sc_time& when) {
    turn().due = std::min(turn().due, when);
}

bool dma_engine::has_work(const queue_pair& q) const {
    return std::all_of(q.sides.begin(), q.sides.end(),
                       [](const stream& s) { return s.active || !s.ring.starved(); });
}

bool dma_engine::runnable(const queue_pair& q, unsigned number) const {
    if (!has_work(q) || q.barrier) return false;
    if (disabled_[0] || disabled_[1] || halted_[0] || halted_[1]) return false;
    if (q[dma_side::m2s].aborted || q[dma_side::s2m].aborted) return false;
    return settings(number).enabled;
}

/// A packet that has begun and finds no destination may never end: nobody would see why.
void dma_engine::note_starvation(queue_pair& q) {
    const auto has_more = [](const stream& s) { return s.active || !s.ring.starved(); };
    const bool starved =
        q.packet_descriptors > 0 && has_more(q[dma_side::m2s]) && !has_more(q[dma_side::s2m]);
    if (!starved)
        q.starved_since.reset();
    else if (!q.starved_since)
        q.starved_since = sc_core::sc_time_stamp();
}

void dma_engine::expire_starvation(queue_pair& q) {
    if (sc_core::sc_time_stamp() < *q.starved_since + group_.times.stream_timeout) return;
    q.starved_since.reset();
    const auto mine = std::find_if(queues_.begin(), queues_.end(),
                                   [&](const auto& each) { return each.get() == &q; });
    error(dma_side::m2s, static_cast<unsigned>(mine - queues_.begin()), cause::m2s_stream_timeout,
          misuse::destination_starved, fmt::format("{} bytes left", q[dma_side::m2s].left), true);
}

dma_engine::queue_pair* dma_engine::choose(unsigned& number) {
    for (unsigned i = 0; i < queues; ++i) {
        number = (next_queue_ + i) % queues;
        queue_pair* q = queues_[number].get();
        if (q != nullptr && q->ready_at <= sc_core::sc_time_stamp() && runnable(*q, number))
            return q;
    }
    return nullptr;
}

// ---- starting

dma_engine::progress dma_engine::start_next() {
    if (fetching_) return fetch(fetch_request(*fetching_));
    if (next_start_ > sc_core::sc_time_stamp() || full()) return progress::blocked;
    unsigned number = 0;
    queue_pair* q = choose(number);
    if (q == nullptr) return progress::blocked;
    next_queue_ = number;
    progress result = load(*q, number, dma_side::m2s);
    if (result != progress::done) return result;
    if (q->compute) return collect(*q, number);
    result = load(*q, number, dma_side::s2m);
    if (result != progress::done) return result;
    launch(*q, number);
    return progress::done;
}

/// Makes the next descriptor of a side current.
dma_engine::progress dma_engine::load(queue_pair& q, unsigned number, dma_side side) {
    stream& s = q[side];
    if (s.active) return progress::done;
    if (!s.ring.fetched()) {
        const progress result = fetch(next_fetch(number, side));
        if (result != progress::done) return result;
    }
    const bool accepted =
        side == dma_side::m2s ? accept_source(q, number) : accept_destination(q, number);
    if (!accepted) return progress::failed;
    s.current = s.ring.front();
    s.ring.pop();
    if (side == dma_side::m2s && !q.posted.empty()) {
        auto& [of, left] = q.posted.front();
        q.operation = of;
        if (--left == 0) q.posted.erase(q.posted.begin());
    }
    s.left = length_of(side, s.current, settings(number).length_0_is_64k);
    s.address = s.current.address() & settings(number).address_mask[side];
    s.active = true;
    return progress::done;
}

dma_engine::fetch_request dma_engine::next_fetch(unsigned number, dma_side side) const {
    const dma_ring& ring = (*queues_[number])[side].ring;
    return {
        number, side,
        settings(number).ring_base[side] + std::uint64_t{ring.fetch_at()} * sizeof(dma_descriptor),
        ring.next_burst()};
}

dma_engine::progress dma_engine::fetch(const fetch_request& wanted) {
    const auto [number, side, address, count] = wanted;
    dma_ring& ring = (*queues_[number])[side].ring;
    const queue_mover mover(*this, number);
    const acting as(mover);
    const queue_pair& q = *queues_[number];
    const trace::on_behalf_of it(side == dma_side::m2s && !q.posted.empty() ? q.posted.front().first
                                                                            : q.operation);
    const auto reports = misuse::reports();
    sc_time delay;  // hidden by the prefetch; the first one is part of the start latency
    group_.memory.find(tlm::TLM_READ_COMMAND, address);
    const auto result = group_.memory.access(tlm::TLM_READ_COMMAND, address, ring.buffer(),
                                             count * static_cast<unsigned>(sizeof(dma_descriptor)),
                                             fetch_later_, delay);
    if (result == memory_port::outcome::deferred) {
        fetching_ = wanted;
        return progress::blocked;
    }
    fetching_.reset();
    if (result == memory_port::outcome::failed) {
        access_error(
            side, number,
            side == dma_side::m2s ? cause::m2s_prefetch_response : cause::s2m_prefetch_response,
            misuse::unmapped_descriptor, fmt::format("{} ring at {:#x}", text(side), address),
            reports);
        return progress::failed;
    }
    if (auto& bit = (*queues_[number])[side].damaged_bit) {
        ring.buffer()->words[*bit / 32] ^= 1u << *bit % 32;
        bit.reset();
    }
    ring.took_burst(count);
    if (trace::on())
        trace::event(
            row(), "descriptors",
            {{"queue", number}, {"side", text(side)}, {"count", count}, trace::hex("at", address)});
    return progress::done;
}

bool dma_engine::accept_source(queue_pair& q, unsigned number) {
    const dma_ring& ring = q[dma_side::m2s].ring;
    const dma_descriptor& d = ring.front();
    const auto refuses = [&](unsigned cause, const misuse::rule& rule) {
        return error(dma_side::m2s, number, cause, rule,
                     fmt::format("m2s descriptor {:#010x} {:#010x} to {:#x}", d.words[0],
                                 d.words[1], d.address()));
    };
    if (d.ring_id() != ring.front_pass() && refuses(cause::m2s_ring_id, misuse::ring_id_mismatch))
        return false;
    if (q.packet_descriptors == 0 && !d.first() &&
        refuses(cause::m2s_first_bit, misuse::first_bit_error))
        return false;
    if (q.packet_descriptors > 0 && d.first()) {
        if (refuses(cause::m2s_last_bit, misuse::last_bit_error)) return false;
        q.packet_bytes = q.packet_descriptors = 0;
        q.compute.reset();
    }
    if (q.packet_descriptors >= settings(number).most_packet_descriptors &&
        refuses(cause::m2s_too_many_descriptors, misuse::too_many_descriptors))
        return false;
    if (q.compute || d.operation_type() != meta::op_type_copy) {
        if (!accept_compute(q, number, d)) return false;
        ++q.packet_descriptors;
        return true;
    }
    const std::uint32_t length = length_of(dma_side::m2s, d, settings(number).length_0_is_64k);
    if (q.packet_bytes + length > settings(number).most_packet_bytes &&
        refuses(cause::m2s_packet_too_long, misuse::packet_too_long))
        return false;
    ++q.packet_descriptors;
    q.packet_bytes = std::min<std::uint32_t>(q.packet_bytes + length, 1u << 30);
    return true;
}

bool dma_engine::accept_destination(queue_pair& q, unsigned number) {
    const dma_ring& ring = q[dma_side::s2m].ring;
    const dma_descriptor& d = ring.front();
    return d.ring_id() == ring.front_pass() ||
           !error(dma_side::s2m, number, cause::s2m_ring_id, misuse::ring_id_mismatch,
                  fmt::format("s2m descriptor {:#010x} to {:#x}, pass {}", d.words[0], d.address(),
                              ring.front_pass()));
}

/// Gives the next piece of both streams to the mover.
void dma_engine::launch(queue_pair& q, unsigned number) {
    stream& from = q[dma_side::m2s];
    stream& to = q[dma_side::s2m];
    const std::uint32_t length = std::min(from.left, to.left);
    const bool ends_packet = length == from.left && from.current.last();
    if (ends_packet && length < to.left &&
        error(dma_side::s2m, number, cause::s2m_length_mismatch, misuse::length_mismatch,
              fmt::format("{} bytes of the destination at {:#x} left", to.left - length,
                          to.address + length)))
        return;

    transfer t{from.address,
               to.address,
               length,
               0,
               {},
               static_cast<std::uint8_t>(number),
               length == from.left,
               length == to.left || ends_packet,
               false,
               false};
    t.interrupt = (t.ends_source && from.current.interrupt()) ||
                  (t.ends_destination && to.current.interrupt());
    for (stream* s : {&from, &to}) {
        s->left -= length;
        s->address += length;
    }
    from.active = !t.ends_source;
    to.active = !t.ends_destination;
    if (t.ends_source && from.current.barrier() && settings(number).barriers_count)
        q.barrier = true;
    if (ends_packet) {
        q.packet_bytes = q.packet_descriptors = 0;
        next_queue_ = (number + 1) % queues;
    }
    start(std::move(t));
}

/// An engine completes its transfers in the order in which they started.
void dma_engine::start(transfer t) {
    const trace::on_behalf_of it(queues_[t.queue]->operation);
    if (trace::on())
        t.slice = trace::begin(row(), t.compute ? t.compute->operation.name() : "copy",
                               {{"queue", t.queue},
                                trace::hex("from", t.source),
                                trace::hex("to", t.destination),
                                {"bytes", t.length}});
    t.completes_at = reserve(t);
    if (!flight_.empty()) t.completes_at = std::max(t.completes_at, flight_.back().completes_at);
    ++queues_[t.queue]->in_flight;
    bytes_in_flight_ += t.length;
    flight_.push_back(std::move(t));
}

// ---- compute packets: collected whole, then one transfer

/// Opens a compute packet, or takes its scales.
bool dma_engine::accept_compute(queue_pair& q, unsigned number, const dma_descriptor& d) {
    const unsigned type = d.operation_type();
    if (type == meta::op_type_compute && q.packet_descriptors == 0) {
        q.compute = std::make_unique<compute_packet>(d);
        return !refused(number, q.compute->operation.check_operation(group_.compute.can));
    }
    if (type == meta::op_type_scales && q.compute)
        return !refused(number, q.compute->operation.add_scales(d));
    if (type == meta::op_type_copy) return true;
    return !refused(number,
                    dma_operation::refusal{misuse::unsupported_descriptor, cause::m2s_operation,
                                           fmt::format("word 1 is {:#010x}", d.words[1])});
}

bool dma_engine::refused(unsigned number, const std::optional<dma_operation::refusal>& why) {
    if (why) error(dma_side::m2s, number, why->cause, why->rule, why->why, true);
    return why.has_value();
}

dma_engine::progress dma_engine::collect(queue_pair& q, unsigned number) {
    if (!q.compute->has_all_sources) return collect_sources(q, number);
    const progress result = load(q, number, dma_side::s2m);
    if (result != progress::done) return result;
    stream& to = q[dma_side::s2m];
    dma_operation& operation = q.compute->operation;
    to.active = false;
    q.compute->interrupt |= to.current.interrupt();
    if (++q.compute->s2m > settings(number).most_descriptors &&
        error(dma_side::m2s, number, cause::m2s_too_many_descriptors, misuse::too_many_descriptors,
              "destinations of a compute packet", true))
        return progress::failed;
    if (refused(number, operation.add_destination({to.address, to.left}))) return progress::failed;
    if (operation.destination_left() > 0) return progress::done;
    if (refused(number, operation.check_overlap())) return progress::failed;
    launch_compute(q, number);
    return progress::done;
}

/// The current source of a compute packet; the last one stays active until there are destinations.
dma_engine::progress dma_engine::collect_sources(queue_pair& q, unsigned number) {
    stream& from = q[dma_side::m2s];
    compute_packet& packet = *q.compute;
    ++packet.m2s;
    packet.interrupt |= from.current.interrupt();
    packet.barrier |= from.current.barrier();
    if (from.current.operation_type() == meta::op_type_copy)
        packet.operation.add_source({from.address, from.left});
    if (!from.current.last()) {
        from.active = false;
        return progress::done;
    }
    packet.has_all_sources = true;
    return refused(number, packet.operation.check_sources()) ? progress::failed : progress::done;
}

void dma_engine::launch_compute(queue_pair& q, unsigned number) {
    const dma_operation& operation = q.compute->operation;
    q[dma_side::m2s].active = false;
    if (q.compute->barrier && settings(number).barriers_count) q.barrier = true;
    q.packet_bytes = q.packet_descriptors = 0;
    next_queue_ = (number + 1) % queues;
    transfer t{operation.sources().front().address,
               operation.destinations().front().address,
               static_cast<std::uint32_t>(operation.bytes_written()),
               0,
               {},
               static_cast<std::uint8_t>(number),
               true,
               true,
               q.compute->interrupt,
               false};
    t.compute = std::move(q.compute);
    start(std::move(t));
}

/// Occupies the engine and everything between source and destination from now on; all of them
/// stream, so the slowest decides and the latencies add up.
sc_time dma_engine::reserve(const transfer& t) {
    const sc_time now = sc_core::sc_time_stamp();
    sc_time through = mover_.reserve(t.compute ? mover_bytes(t.compute->operation) : t.length, now);
    const bool functional = timing() == timing_mode::functional;
    if (!functional) {
        through += group_.times.descriptor_overhead;
        if (t.compute) through += group_.times.descriptor_overhead * (t.compute->m2s - 1);
        next_start_ = through;
    }
    std::array<sc_time, 2> latency;  // of the slowest source, of the slowest destination
    const auto cross = [&](tlm::tlm_command command, std::uint64_t address, std::uint32_t length) {
        const auto* way = window(command, address, length);
        if (way == nullptr) return;  // its bursts will tell the time when they move
        through = std::max(through, way->reserve(command, address, length, now));
        sc_time& slowest = latency[command == tlm::TLM_WRITE_COMMAND ? 1 : 0];
        slowest = std::max(slowest, way->latency(command));
    };
    if (t.compute) {
        const dma_operation& operation = t.compute->operation;
        for (const auto& p : operation.sources()) cross(tlm::TLM_READ_COMMAND, p.address, p.length);
        for (const auto& p : operation.destinations()) {
            if (operation.accumulates() && !group_.compute.accumulates_near_memory)
                cross(tlm::TLM_READ_COMMAND, p.address, p.length);
            cross(tlm::TLM_WRITE_COMMAND, p.address, p.length);
        }
    } else {
        cross(tlm::TLM_READ_COMMAND, t.source, t.length);
        cross(tlm::TLM_WRITE_COMMAND, t.destination, t.length);
    }
    if (functional) return now;  // what was crossed has counted its bytes
    return through + latency[0] + latency[1];
}

/// Reading and writing go on at the same time: what takes longer counts, at the rate of computing.
std::uint64_t dma_engine::mover_bytes(const dma_operation& operation) const {
    std::uint64_t read = operation.bytes_read();
    if (operation.accumulates() && !group_.compute.accumulates_near_memory)
        read += operation.bytes_written();
    const unsigned permille =
        operation.transposes() ? group_.compute.transpose_permille : group_.compute.permille;
    return std::max(read, operation.bytes_written()) * 1000 / permille;
}

// ---- generating descriptors

namespace status = dma_generator_regs::status;

void dma_engine::generate(unsigned number, const sc_time& delay) {
    if (status::busy.get(generator_status(number)) != 0) {
        misuse::report(misuse::generator_command, group_.owner,
                       name(number) + ": START while the command before is being carried out");
        return;
    }
    queue(number);  // from now on its reset has something to drop
    sc_time begin = sc_core::sc_time_stamp() + delay;
    if (!generations_.empty()) begin = std::max(begin, generations_.back().ready_at);
    const bool functional = timing() == timing_mode::functional;
    generations_.push_back(
        {generator_command(group_.generator_regs, number, number_), number,
         begin + (functional ? group_.times.functional_step : group_.times.generation_latency)});
    generations_.back().of = trace::current_or_new_operation();
    generations_.back().started = started_work::current();
    group_.generator_regs.set(dma_generator_regs::reg::status, status::busy.mask(), number,
                              number_);
    decide_due();
}

/// Commands are carried out one after another. A command that was dropped by a reset stays in the
/// list until its turn: whoever works on it may be the one who caused the reset.
void dma_engine::generate_due(dma_budget& budget) {
    while (!generations_.empty() && !budget.spent()) {
        generation& g = generations_.front();
        if (g.ready_at > sc_core::sc_time_stamp()) return;
        const trace::on_behalf_of it(g.of);
        if (!g.dropped && (g.begun || begin_generation(g))) {
            const progress result = write_generated(g);
            if (result == progress::blocked) return;
            --budget.transfers;
            if (result == progress::done && !g.dropped) {
                const std::uint32_t count = g.what.pieces();
                end_generation(g, count);
                doorbell(dma_side::s2m, g.queue, count, sc_core::SC_ZERO_TIME);
                doorbell(dma_side::m2s, g.queue, count, sc_core::SC_ZERO_TIME);
                if (g.started) queue(g.queue).started = std::move(g.started);
            }
        }
        if (g.dropped && status::busy.get(generator_status(g.queue)) != 0)
            end_generation(g, status::failed.mask());
        generations_.pop_front();
    }
}

std::uint64_t dma_engine::generator_status(unsigned number) const {
    return group_.generator_regs.get(dma_generator_regs::reg::status, number, number_);
}

void dma_engine::end_generation(const generation& g, std::uint64_t shown) {
    group_.generator_regs.set(dma_generator_regs::reg::status, shown, g.queue, number_);
}

bool dma_engine::begin_generation(generation& g) {
    const auto refuse = [&](const char* why) {
        misuse::report(misuse::generator_command, group_.owner, name(g.queue) + ": " + why);
        end_generation(g, status::failed.mask());
        return false;
    };
    const std::uint32_t count = g.what.pieces();
    if (count == 0) return refuse("no pieces, too many, or pieces of no or too many bytes");
    queue_pair& q = queue(g.queue);
    for (const dma_side side : {dma_side::m2s, dma_side::s2m}) {
        dma_ring& ring = q[side].ring;
        adopt_length(ring, g.queue, settings(g.queue).ring_length[side]);
        if (q[side].aborted) return refuse("the queue is stopped");
        if (count > ring.length() - ring.pending()) return refuse("a ring has no room");
        g.at[static_cast<unsigned>(side)] = ring.tail();
    }
    return g.begun = true;
}

dma_engine::progress dma_engine::write_generated(generation& g) {
    const queue_mover mover(*this, g.queue);
    const acting as(mover);
    const std::uint32_t count = g.what.pieces();
    std::array<dma_descriptor, axi_boundary / sizeof(dma_descriptor)> burst;
    for (; g.side < 2; ++g.side, g.written = 0) {
        const auto side = static_cast<dma_side>(g.side);
        const std::uint32_t ring_length = queue(g.queue)[side].ring.length();
        while (g.written < count) {
            dma_ring::position at = g.at[g.side];
            at.advance(g.written, ring_length);
            const std::uint64_t address = settings(g.queue).ring_base[side] +
                                          std::uint64_t{at.index} * sizeof(dma_descriptor);
            const auto fits = static_cast<std::uint32_t>(to_boundary(address) / sizeof burst[0]);
            const std::uint32_t n = std::min({count - g.written, ring_length - at.index, fits});
            for (std::uint32_t i = 0; i < n; ++i)
                burst[i] = side == dma_side::m2s ? g.what.source(g.written + i, at.pass)
                                                 : g.what.destination(g.written + i, at.pass);
            const auto reports = misuse::reports();
            sc_time delay;  // hidden in the latency of the command
            const auto result = group_.memory.access(tlm::TLM_WRITE_COMMAND, address, burst.data(),
                                                     n * static_cast<unsigned>(sizeof burst[0]),
                                                     generate_later_, delay);
            if (g.dropped) return progress::failed;
            if (result == memory_port::outcome::deferred) return progress::blocked;
            if (result == memory_port::outcome::failed) {
                const bool m2s = side == dma_side::m2s;
                access_error(side, g.queue,
                             m2s ? cause::m2s_prefetch_response : cause::s2m_prefetch_response,
                             misuse::unmapped_descriptor,
                             fmt::format("{} ring at {:#x}", text(side), address), reports);
                return progress::failed;
            }
            g.written += n;
        }
    }
    return progress::done;
}

// ---- completing

/// Moves the bytes of everything that is due, until a memory makes it wait.
void dma_engine::complete_due(dma_budget& budget) {
    while (!flight_.empty()) {
        transfer& t = flight_.front();
        const trace::on_behalf_of it(t.slice.of);
        if (!t.dropped) {
            if (t.completes_at > sc_core::sc_time_stamp()) return;
            if (budget.spent()) return;
            if (move(t, budget) == progress::blocked) return;
            if (!t.dropped) finish(t);
        }
        if (trace::on()) trace::end(t.slice, row(), "dropped");  // unless it has ended
        bytes_in_flight_ -= t.length;
        flight_.pop_front();
    }
}

dma_engine::progress dma_engine::move(transfer& t, dma_budget& budget) {
    --budget.transfers;
    const queue_mover mover(*this, t.queue);
    const acting as(mover);
    if (t.compute) {
        const progress result = move_compute(t);
        if (result != progress::done) return result;
        count_.bytes += t.length;
        const std::uint64_t moved = t.compute->operation.bytes_read() + t.length;
        budget.bytes -= std::min(budget.bytes, moved);
        return progress::done;
    }
    while (t.moved < t.length && !t.dropped) {
        const std::uint32_t before = t.moved;
        if (!move_directly(t)) {
            const progress result = move_burst(t);
            if (result != progress::done) return result;
        }
        const std::uint32_t moved = t.moved - before;
        count_.bytes += moved;
        budget.bytes -= std::min<std::uint64_t>(budget.bytes, moved);
    }
    return t.dropped ? progress::failed : progress::done;
}

/// Plain memory there; nullptr when it is none, or the access is too short to ask for it.
const memory_port::window* dma_engine::window(tlm::tlm_command command, std::uint64_t address,
                                              std::uint64_t length) {
    return length > longest_register ? group_.memory.find(command, address)
                                     : group_.memory.known(command, address);
}

/// As much as lies in plain memory on both sides, in one copy.
bool dma_engine::move_directly(transfer& t) {
    std::uint64_t length = t.length - t.moved;
    if (in_burst_ > 0 || move_later_.ready != nullptr) return false;
    const std::uint64_t source = t.source + t.moved, destination = t.destination + t.moved;
    const auto* from = window(tlm::TLM_READ_COMMAND, source, length);
    if (from == nullptr) return false;
    length = from->room(source, length);
    const std::uint8_t* bytes = from->at(source);  // `from` does not outlive the next question
    const auto read = from->watched_at(source);
    const auto* to = window(tlm::TLM_WRITE_COMMAND, destination, length);
    if (to == nullptr) return false;
    length = to->room(destination, length);
    if (!copied_as_zeroes(to->at(destination), bytes, length))
        copy(to->at(destination), bytes, length);
    read.tell_read(to->at(destination), length);
    to->watched_at(destination).tell_written(to->at(destination), length);
    t.moved += static_cast<std::uint32_t>(length);
    return true;
}

/// One burst through the sockets; where a memory answers later, the same step again.
dma_engine::progress dma_engine::move_burst(transfer& t) {
    const std::uint64_t source = t.source + t.moved, destination = t.destination + t.moved;
    auto reports = misuse::reports();
    sc_time delay;
    if (burst_.empty()) burst_.resize(axi_boundary);
    if (in_burst_ == 0) {
        const std::uint32_t length =
            std::min({t.length - t.moved, to_boundary(source), to_boundary(destination)});
        const auto read = group_.memory.access(tlm::TLM_READ_COMMAND, source, burst_.data(), length,
                                               move_later_, delay);
        if (t.dropped) return progress::failed;
        if (read == memory_port::outcome::deferred) return progress::blocked;
        if (read == memory_port::outcome::failed) {
            access_error(dma_side::m2s, t.queue, cause::m2s_data_response, misuse::unmapped_source,
                         fmt::format("{:#x}", source), reports);
            return progress::failed;
        }
        in_burst_ = length;
    }
    reports = misuse::reports();
    const auto write = group_.memory.access(tlm::TLM_WRITE_COMMAND, destination, burst_.data(),
                                            in_burst_, move_later_, delay);
    if (t.dropped) return progress::failed;
    if (write == memory_port::outcome::deferred) return progress::blocked;
    if (write == memory_port::outcome::failed) {
        in_burst_ = 0;
        access_error(dma_side::s2m, t.queue, cause::s2m_data_response, misuse::unmapped_destination,
                     fmt::format("{:#x}", destination), reports);
        return progress::failed;
    }
    t.moved += in_burst_;
    in_burst_ = 0;
    if (t.moved < t.length && timing() == timing_mode::contended &&
        delay != sc_core::SC_ZERO_TIME) {
        t.completes_at = sc_core::sc_time_stamp() + delay;
        return progress::blocked;
    }
    return progress::done;
}

/// A reduction whose operands and results lie in plain memory, each in one window: what most bytes
/// of collectives go through. False: nothing was done.
bool dma_engine::reduce_in_place(const dma_operation& operation) {
    if (!operation.in_whole_pieces() || move_later_.ready != nullptr) return false;
    struct run {
        std::uint8_t* bytes;
        std::uint32_t length;
        memory_port::watch watched;
    };
    std::array<run, dma_operation::most_operands + 1> from{};
    std::array<run, 2> to{};
    const auto find = [this](tlm::tlm_command command, const dma_operation::piece& p, run& found) {
        const auto* way = window(command, p.address, p.length);
        if (way == nullptr || way->room(p.address, p.length) < p.length) return false;
        found = {way->at(p.address), p.length, way->watched_at(p.address)};
        return true;
    };
    std::size_t operands = 0, results = 0;
    if (operation.accumulates() &&
        !find(tlm::TLM_READ_COMMAND, operation.destinations().front(), from[operands++]))
        return false;
    for (const auto& p : operation.sources())
        if (!find(tlm::TLM_READ_COMMAND, p, from[operands++])) return false;
    for (const auto& p : operation.destinations())
        if (!find(tlm::TLM_WRITE_COMMAND, p, to[results++])) return false;
    // The same bytes can have two addresses.
    std::array<const std::uint8_t*, from.size()> starts{};
    const run& result = to.front();
    for (std::size_t n = 0; n < operands; ++n) {
        const run& operand = from[n];
        starts[n] = operand.bytes;
        if (operand.bytes < result.bytes + result.length &&
            result.bytes < operand.bytes + operand.length &&
            (operand.bytes != result.bytes || operand.length != result.length))
            return false;
    }
    for (const run& operand : std::span(from).first(operands))
        operand.watched.tell_read(operand.bytes, operand.length);
    operation.reduce(std::span(starts).first(operands), result.bytes);
    for (const run& each : std::span(to).first(results)) {
        if (&each != &result) std::memmove(each.bytes, result.bytes, result.length);
        each.watched.tell_written(each.bytes, each.length);
    }
    return true;
}

/// All operands, then the result. Everything in plain memory moves at one moment, so that nobody
/// comes between an accumulation's reading and its writing.
dma_engine::progress dma_engine::move_compute(transfer& t) {
    compute_packet& packet = *t.compute;
    if (packet.written) return progress::done;
    if (!packet.begun && reduce_in_place(packet.operation)) return progress::done;
    if (!packet.begun) packet.operation.begin(operands_);
    packet.begun = true;
    for (;;) {
        const progress result = move_accesses(t);
        if (result != progress::done) return result;
        if (packet.operation.writing()) break;
        if (refused(t.queue, packet.operation.next_stage(operands_))) return progress::failed;
        packet.access = 0;
    }
    packet.written = true;
    if (timing() == timing_mode::functional || packet.delay == sc_core::SC_ZERO_TIME)
        return progress::done;
    t.completes_at = sc_core::sc_time_stamp() + packet.delay;
    return progress::blocked;
}

dma_engine::progress dma_engine::move_accesses(transfer& t) {
    compute_packet& packet = *t.compute;
    const auto& accesses = packet.operation.accesses();
    for (; packet.access < accesses.size(); ++packet.access, packet.moved = 0) {
        const progress result = move_access(t, accesses[packet.access]);
        if (result != progress::done) return result;
    }
    return progress::done;
}

/// Between memory and the buffer: by windows where there are some, else in bursts.
dma_engine::progress dma_engine::move_access(transfer& t, const dma_operation::access& access) {
    compute_packet& packet = *t.compute;
    const bool writes = packet.operation.writing();
    const auto command = writes ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND;
    while (packet.moved < access.length) {
        const std::uint64_t address = access.address + packet.moved;
        std::uint8_t* const bytes = operands_.data() + access.at + packet.moved;
        const std::uint32_t left = access.length - packet.moved;
        const auto* way = window(command, address, left);
        if (way != nullptr && move_later_.ready == nullptr) {
            const auto length = static_cast<std::uint32_t>(way->room(address, left));
            std::uint8_t* const memory = way->at(address);
            std::memcpy(writes ? memory : bytes, writes ? bytes : memory, length);
            if (writes)
                way->watched_at(address).tell_written(memory, length);
            else
                way->watched_at(address).tell_read(bytes, length);
            packet.moved += length;
            continue;
        }
        const std::uint32_t length = std::min(left, to_boundary(address));
        const auto reports = misuse::reports();
        const auto result =
            group_.memory.access(command, address, bytes, length, move_later_, packet.delay);
        if (t.dropped) return progress::failed;
        if (result == memory_port::outcome::deferred) return progress::blocked;
        if (result == memory_port::outcome::failed) {
            if (writes)
                access_error(dma_side::s2m, t.queue, cause::s2m_data_response,
                             misuse::unmapped_destination, fmt::format("{:#x}", address), reports);
            else
                access_error(dma_side::m2s, t.queue, cause::m2s_data_response,
                             misuse::unmapped_source, fmt::format("{:#x}", address), reports);
            return progress::failed;
        }
        packet.moved += length;
    }
    return progress::done;
}

void dma_engine::finish(transfer& t) {
    queue_pair& q = *queues_[t.queue];
    const std::uint32_t ended_m2s = t.compute ? t.compute->m2s : t.ends_source ? 1 : 0;
    const std::uint32_t ended_s2m = t.compute ? t.compute->s2m : t.ends_destination ? 1 : 0;
    if (trace::on())
        trace::end(t.slice, row(), "completed", {{"queue", t.queue}, {"bytes", t.length}});
    for (std::uint32_t n = 0; n < ended_m2s; ++n) q[dma_side::m2s].ring.complete();
    for (std::uint32_t n = 0; n < ended_s2m; ++n) q[dma_side::s2m].ring.complete();
    count_.descriptors += ended_m2s;
    if (--q.in_flight == 0) q.barrier = false;
    if (t.interrupt) {
        constexpr unsigned dma_trace_slot = 0;
        group_.notifications.post(
            dma_trace_slot,
            {notification::kind::dma_trace, t.queue, q[dma_side::s2m].ring.head().value()},
            number_);
    }
}

// ---- errors

/// True when the error stops the queue: it always does where nothing sensible can follow, else
/// when software has not masked it (contract 6.4).
bool dma_engine::error(dma_side side, unsigned number, unsigned cause, const misuse::rule& rule,
                       const std::string& detail, bool always_aborts) {
    misuse::report(rule, group_.owner, name(number) + ": " + detail);
    return raise(side, number, cause, always_aborts);
}

/// An access that was not answered. Who refused it may have said why (`reports` had changed since).
bool dma_engine::access_error(dma_side side, unsigned number, unsigned cause,
                              const misuse::rule& rule, const std::string& detail,
                              std::uint64_t reports) {
    if (misuse::reports() == reports) return error(side, number, cause, rule, detail, true);
    return raise(side, number, cause, true);
}

bool dma_engine::raise(dma_side side, unsigned number, unsigned cause, bool always_aborts) {
    const unsigned group = static_cast<unsigned>(side);
    const std::uint64_t bit = 1ull << cause;
    const auto set = [&](reg which, unsigned index, std::uint64_t bits) {
        group_.regs.set(which, group_.regs.get(which, index, number_) | bits, index, number_);
    };
    set(reg::secondary_cause, group, bit);
    if ((group_.regs.get(reg::secondary_mask, group, number_) & bit) == 0)
        set(reg::primary_cause, primary_d, 0x100ull << group);
    const bool aborts =
        always_aborts || (group_.regs.get(reg::secondary_abort_mask, group, number_) & bit) == 0;
    if (aborts) {
        group_.notifications.post(
            error_slot,
            {notification::kind::error, static_cast<std::uint8_t>(number), group << 8 | cause},
            number_);
        abort(side, number);
    }
    return aborts;
}

// ---- settings

const dma_engine::queue_settings& dma_engine::settings(unsigned number) const {
    queue_settings& known = queues_[number]->settings;
    if (known.as_of != group_.regs.changes(number_)) read_settings(known, number);
    return known;
}

void dma_engine::read_settings(queue_settings& into, unsigned number) const {
    const auto get = [&](reg which) { return group_.regs.get(which, number, number_); };
    const auto engine = [&](reg which) { return group_.regs.get(which, 0, number_); };
    into.as_of = group_.regs.changes(number_);

    constexpr auto works = regs::m2s_q_cfg::prefetch.mask() | regs::m2s_q_cfg::schedule.mask();
    // Contract 6.1: three bits together switch the write side's stream off.
    constexpr std::uint64_t stream_off = regs::s2m_stream_cfg::off_0.mask() |
                                         regs::s2m_stream_cfg::off_4.mask() |
                                         regs::s2m_stream_cfg::off_8.mask();
    into.enabled = (get(reg::m2s_q_cfg) & get(reg::s2m_q_cfg) & works) == works &&
                   (engine(reg::s2m_stream_cfg) & stream_off) != stream_off;
    into.barriers_count =
        regs::m2s_q_rate_limit_mask::dmb.get(get(reg::m2s_q_rate_limit_mask)) == 0;
    for (const dma_side side : {dma_side::m2s, dma_side::s2m}) {
        const auto low = get(pick(side, reg::m2s_q_base_lo, reg::s2m_q_base_lo)) & ~0xffull;
        const auto high = get(pick(side, reg::m2s_q_base_hi, reg::s2m_q_base_hi));
        into.ring_base[side] = low | high << 32;
        into.ring_length[side] =
            static_cast<std::uint32_t>(get(pick(side, reg::m2s_q_length, reg::s2m_q_length)));
        // The upper half of an address passes through the queue's selector.
        into.address_mask[side] =
            get(pick(side, reg::address_hi_tx, reg::address_hi_rx_0)) << 32 | 0xffff'ffff;
    }
    const auto length = engine(reg::m2s_packet_length);
    into.length_0_is_64k = regs::m2s_packet_length::length_0_is_64k.get(length) != 0;
    into.most_packet_bytes =
        static_cast<std::uint32_t>(regs::m2s_packet_length::max_bytes.get(length));
    const auto packet = engine(reg::m2s_prefetch_cfg_2);
    into.most_descriptors =
        static_cast<std::uint32_t>(regs::m2s_prefetch_cfg_2::max_descriptors.get(packet));
    into.most_packet_descriptors = regs::m2s_prefetch_cfg_2::limit.get(packet) != 0
                                       ? into.most_descriptors
                                       : std::numeric_limits<std::uint32_t>::max();
}

dma_engine::queue_pair& dma_engine::queue(unsigned number) {
    if (queues_[number] == nullptr) queues_[number] = std::make_unique<queue_pair>();
    return *queues_[number];
}

std::string dma_engine::name(unsigned number) const {
    return fmt::format("engine {} queue {}", group_.first_engine + number_, number);
}

}  // namespace trn

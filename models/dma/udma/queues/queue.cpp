// SPDX-License-Identifier: Apache-2.0
#include "models/dma/udma/queues/queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "models/dma/udma/descriptors/causes.h"
#include "models/dma/udma/dma_descriptor_regs.h"
#include "models/dma/udma/udma_regs.h"
#include "models/misuse_rules.h"
#include "platform/framework/misuse/hardware_failed.h"

namespace trn {

namespace meta = dma_descriptor_regs::m2s_meta;
using sc_core::sc_time;
using udma_regs::reg;

dma_queue::dma_queue(dma_engine_context& engine, unsigned number)
    : engine_(engine), number_(number), pending_fetch_(engine.group.responded) {}

std::string dma_queue::describe() const {
    return fmt::format("engine {} queue {}", group().first_engine + engine_.number, number_);
}

dma_queue::identity dma_queue::identify() const {
    return {group().owner.name(), group().first_engine + engine_.number, number_};
}

// ---- Register accesses

bool dma_queue::post(dma_side side, std::uint32_t count, const sc_time& delay) {
    if (settings().ring_length[side] == 0) {
        // Queues stay enabled with an empty ring after the driver's engine init.
        misuse::report(misuse::doorbell_without_ring, group().owner, describe());
        return false;
    }
    if (is_aborted()) {
        misuse::report(misuse::doorbell_on_aborted_queue, group().owner, describe());
        return false;
    }
    dma_ring& ring = sides_[side].ring;
    const bool could_run = has_work() || to_move_ > 0;
    adopt_length(side);
    if (count > ring.room()) {
        error(side,
              side == dma_side::m2s ? cause::m2s_too_many_descriptors : cause::s2m_length_mismatch,
              misuse::doorbell_past_ring,
              fmt::format("{} {} posted to {} pending of {}", text(side), count, ring.pending(),
                          ring.length()),
              true);
        return false;
    }
    ring.post(count);
    if (side == dma_side::m2s) posted_descriptors_ += count;
    if (trace::on()) {
        const trace::on_behalf_of operation(
            side == dma_side::m2s ? trace::current_or_new_operation() : trace::current_operation());
        if (side == dma_side::m2s) note_operation(count);
        trace::event(engine_.trace_row(), "doorbell",
                     {{"queue", number_}, {"side", text(side)}, {"count", count}}, delay);
    }
    if (side == dma_side::s2m) starved_since_.reset();
    if (auto started = started_work::current()) hold_host(std::move(started));
    if (!could_run)
        ready_at_ = sc_core::sc_time_stamp() + delay +
                    (timing() == timing_mode::functional ? group().times.functional_step
                                                         : group().times.start_latency);
    return true;
}

void dma_queue::adopt_length(dma_side side) {
    dma_ring& ring = sides_[side].ring;
    const std::uint32_t length = settings().ring_length[side];
    if (length == ring.length()) return;
    ring.resize(length);
    if (ring.length() != length || length % 16 != 0 || length < 32)
        misuse::report(misuse::ring_shape, group().owner,
                       fmt::format("{}: length {}", describe(), length));
}

void dma_queue::reset(dma_side side) {
    sides_[side].ring.reset();
    sides_[side].aborted = sides_[side].damaged = false;
    // The other side's partly moved descriptor is repeated from its start.
    for (stream& s : sides_) s.done = s.skip = 0;
    if (side != dma_side::m2s) return;
    packet_ = completed_ = {};
    posted_.clear();
}

void dma_queue::drop() {
    pending_fetch_.abandon();
    fetching_.reset();
    for (stream& side : sides_) side.rewind();
    packet_ = completed_;
    in_flight_ = to_move_ = 0;
    barrier_ = false;
    compute_.reset();
    abandoned_ = 0;
    starved_since_.reset();
}

/// While tracing, notes that `count` descriptors up to the tail belong to the current operation.
void dma_queue::note_operation(std::uint32_t count) {
    const std::uint64_t oldest = posted_descriptors_ - sides_[dma_side::m2s].ring.pending();
    std::erase_if(posted_, [&](const posted& each) { return each.end <= oldest; });
    posted_.push_back(
        {trace::current_operation(), posted_descriptors_ - count, posted_descriptors_});
}

/// The operation of the m2s descriptor that is `before_tail` places before the tail; 0: not known.
trace::operation dma_queue::operation_of(std::uint32_t before_tail) const {
    const std::uint64_t number = posted_descriptors_ - before_tail;
    const auto found = std::ranges::upper_bound(posted_, number, {}, &posted::end);
    return found != posted_.end() && found->first <= number ? found->operation : 0;
}

// ---- Scheduling

std::optional<sc_time> dma_queue::note_starvation(bool stopped) {
    const bool starved = !stopped && !is_aborted() && packet_.descriptors > 0 &&
                         sides_[dma_side::m2s].has_more() && !sides_[dma_side::s2m].has_more();
    if (!starved)
        starved_since_.reset();
    else if (!starved_since_)
        starved_since_ = sc_core::sc_time_stamp();
    if (!starved_since_) return std::nullopt;
    return *starved_since_ + group().times.stream_timeout;
}

void dma_queue::end_starvation() {
    if (sc_core::sc_time_stamp() < *starved_since_ + group().times.stream_timeout) return;
    starved_since_.reset();
    error(dma_side::m2s, cause::m2s_stream_timeout, misuse::destination_starved,
          fmt::format("{} bytes left", sides_[dma_side::m2s].left), true);
}

// ---- Fetches

std::optional<dma_side> dma_queue::fetching() const {
    return fetching_ ? std::optional(fetching_->side) : std::nullopt;
}

dma_queue::fetch_request dma_queue::next_fetch(dma_side side) const {
    const dma_ring& ring = sides_[side].ring;
    return {.side = side,
            .address = settings().ring_base[side] +
                       std::uint64_t{ring.fetch_at()} * sizeof(dma_descriptor),
            .count = ring.next_burst()};
}

dma_progress dma_queue::fetch(const fetch_request& wanted) {
    const auto [side, address, count] = wanted;
    dma_ring& ring = sides_[side].ring;
    const acting self(*this);
    const trace::on_behalf_of operation(side == dma_side::m2s ? operation_of(ring.unfetched())
                                                              : operation_);
    const auto reports = misuse::reports();
    sc_time delay;  // hidden by the prefetch; that of the first fetch is part of the start latency
    group().memory.find(tlm::TLM_READ_COMMAND, address);
    const auto result = group().memory.access(tlm::TLM_READ_COMMAND, address, ring.buffer(),
                                              count * static_cast<unsigned>(sizeof(dma_descriptor)),
                                              pending_fetch_, delay);
    if (result == memory_port::outcome::deferred) {
        fetching_ = wanted;
        return dma_progress::blocked;
    }
    fetching_.reset();
    if (result == memory_port::outcome::failed) {
        fetch_error(side, address, reports);
        return dma_progress::failed;
    }
    if (auto& bit = sides_[side].damaged_bit) {
        ring.buffer()->words[*bit / 32] ^= 1u << *bit % 32;
        bit.reset();
        sides_[side].damaged = true;
    }
    ring.took_burst(count);
    if (trace::on())
        trace::event(engine_.trace_row(), "descriptors",
                     {{"queue", number_},
                      {"side", text(side)},
                      {"count", count},
                      trace::hex("at", address)});
    return dma_progress::done;
}

// ---- Transfers

bool dma_queue::next_transfer(dma_transfer& next) {
    if (load(dma_side::m2s) != dma_progress::done) return false;
    if (!compute_) return load(dma_side::s2m) == dma_progress::done && next_piece(next);
    if (compute_->has_all_sources) return collect_destination(next);
    collect_source();
    return false;
}

/// Loads the next descriptor of a side.
dma_progress dma_queue::load(dma_side side) {
    stream& s = sides_[side];
    if (s.active) return dma_progress::done;
    if (!s.ring.fetched()) {
        const dma_progress result = fetch(next_fetch(side));
        if (result != dma_progress::done) return result;
    }
    const dma_queue_settings& set = settings();
    const bool accepted = side == dma_side::m2s ? accept_source(set) : accept_destination();
    if (!accepted) return dma_progress::failed;
    if (side == dma_side::m2s) operation_ = operation_of(s.ring.unstarted());
    const dma_descriptor& d = s.ring.front();
    s.begin(d, length_of(side, d), d.address() & set.address_mask[side]);
    s.ring.pop();
    return dma_progress::done;
}

/// Contract 6.1: a length field of 0 means 64 KiB, unless software has disabled this for sources.
std::uint32_t dma_queue::length_of(dma_side side, const dma_descriptor& d) const {
    const bool is_empty =
        side == dma_side::m2s && (d.words[0] & 0xffff) == 0 && !settings().length_0_is_64k;
    return is_empty ? 0 : d.length();
}

bool dma_queue::accept_source(const dma_queue_settings& set) {
    const dma_ring& ring = sides_[dma_side::m2s].ring;
    const dma_descriptor& d = ring.front();
    const auto refuses = [&](unsigned cause, const misuse::rule& rule) {
        return error(dma_side::m2s, cause, rule,
                     fmt::format("m2s descriptor {:#010x} {:#010x} to {:#x}", d.words[0],
                                 d.words[1], d.address()));
    };
    if (d.ring_id() != ring.front_pass() && refuses(cause::m2s_ring_id, misuse::ring_id_mismatch))
        return false;
    if (packet_.descriptors == 0 && !d.first() &&
        refuses(cause::m2s_first_bit, misuse::first_bit_error))
        return false;
    if (packet_.descriptors > 0 && d.first()) {
        if (refuses(cause::m2s_last_bit, misuse::last_bit_error)) return false;
        packet_ = {};
        if (compute_) abandoned_ += compute_->m2s;
        compute_.reset();
    }
    if (packet_.descriptors >= set.max_packet_descriptors &&
        refuses(cause::m2s_too_many_descriptors, misuse::too_many_descriptors))
        return false;
    if (compute_ || d.operation_type() != meta::op_type_copy) {
        if (!accept_compute(d)) return false;
        ++packet_.descriptors;
        return true;
    }
    const std::uint32_t length = length_of(dma_side::m2s, d);
    if (packet_.bytes + length > set.max_packet_bytes &&
        refuses(cause::m2s_packet_too_long, misuse::packet_too_long))
        return false;
    before_ = packet_;
    ++packet_.descriptors;
    packet_.bytes = std::min<std::uint32_t>(packet_.bytes + length, 1u << 30);
    return true;
}

bool dma_queue::accept_destination() {
    const dma_ring& ring = sides_[dma_side::s2m].ring;
    const dma_descriptor& d = ring.front();
    return d.ring_id() == ring.front_pass() ||
           !error(dma_side::s2m, cause::s2m_ring_id, misuse::ring_id_mismatch,
                  fmt::format("s2m descriptor {:#010x} to {:#x}, pass {}", d.words[0], d.address(),
                              ring.front_pass()));
}

bool dma_queue::next_piece(dma_transfer& next) {
    stream& source = sides_[dma_side::m2s];
    stream& destination = sides_[dma_side::s2m];
    const std::uint32_t length = std::min(source.left, destination.left);
    const bool ends_packet = length == source.left && source.current.last();
    if (ends_packet && length < destination.left &&
        error(dma_side::s2m, cause::s2m_length_mismatch, misuse::length_mismatch,
              fmt::format("{} bytes of the destination at {:#x} left", destination.left - length,
                          destination.address + length)))
        return false;

    next.queue = this;
    next.source = source.take(length);
    next.destination = destination.take(length);
    next.length = length;
    next.ends_source = source.left == 0;
    next.ends_destination = destination.left == 0 || ends_packet;
    next.ends_packet = ends_packet;
    next.interrupt = (next.ends_source && source.current.interrupt()) ||
                     (next.ends_destination && destination.current.interrupt());
    source.active = !next.ends_source;
    destination.active = !next.ends_destination;
    if (next.ends_source && source.current.barrier() && settings().has_barriers) barrier_ = true;
    if (ends_packet) packet_ = {};
    next.packet = next.ends_source ? packet_ : before_;
    next.abandoned = std::exchange(abandoned_, 0);
    return true;
}

std::uint32_t dma_queue::end_transfer(const dma_transfer& t) {
    const std::uint32_t ended_m2s = t.abandoned + (t.compute       ? t.compute->m2s
                                                   : t.ends_source ? 1
                                                                   : 0);
    const std::uint32_t ended_s2m = t.compute ? t.compute->s2m : t.ends_destination ? 1 : 0;
    sides_[dma_side::m2s].complete(ended_m2s, t.length, t.ends_source);
    sides_[dma_side::s2m].complete(ended_s2m, t.length, t.ends_destination);
    completed_ = t.packet;
    if (--in_flight_ == 0) barrier_ = false;
    if (sides_[dma_side::m2s].ring.pending() == 0 && sides_[dma_side::s2m].ring.pending() == 0)
        for (stream& s : sides_) s.damaged = false;
    return ended_m2s;
}

// ---- Compute packets: collected completely, then one transfer

/// Starts a compute packet, or adds its scales.
bool dma_queue::accept_compute(const dma_descriptor& d) {
    const unsigned type = d.operation_type();
    if (type == meta::op_type_compute && packet_.descriptors == 0) {
        compute_ = std::make_unique<dma_compute_packet>(d);
        return !refused(compute_->operation.check_operation(group().compute.can));
    }
    if (type == meta::op_type_scales && compute_)
        return !refused(compute_->operation.add_scales(d));
    if (type == meta::op_type_copy) return true;
    return !refused(dma_operation::refusal{.rule = misuse::unsupported_descriptor,
                                           .cause = cause::m2s_operation,
                                           .why = fmt::format("word 1 is {:#010x}", d.words[1])});
}

/// Adds the current source. The last source stays active until all destinations are collected.
void dma_queue::collect_source() {
    stream& source = sides_[dma_side::m2s];
    dma_compute_packet& packet = *compute_;
    if (++packet.m2s > settings().max_compute_descriptors) {
        error(dma_side::m2s, cause::m2s_too_many_descriptors, misuse::too_many_descriptors,
              "sources of a compute packet", true);
        return;
    }
    packet.interrupt |= source.current.interrupt();
    packet.barrier |= source.current.barrier();
    if (source.current.operation_type() == meta::op_type_copy)
        packet.operation.add_source({source.address, source.left});
    if (!source.current.last()) {
        source.active = false;
        return;
    }
    packet.has_all_sources = true;
    refused(packet.operation.check_sources());
}

bool dma_queue::collect_destination(dma_transfer& next) {
    if (load(dma_side::s2m) != dma_progress::done) return false;
    stream& destination = sides_[dma_side::s2m];
    dma_operation& operation = compute_->operation;
    destination.active = false;
    compute_->interrupt |= destination.current.interrupt();
    if (++compute_->s2m > settings().max_compute_descriptors) {
        error(dma_side::m2s, cause::m2s_too_many_descriptors, misuse::too_many_descriptors,
              "destinations of a compute packet", true);
        return false;
    }
    if (refused(operation.add_destination({destination.address, destination.left}))) return false;
    if (operation.destination_left() > 0) return false;
    if (refused(operation.check_overlap())) return false;
    take_compute_packet(next);
    return true;
}

void dma_queue::take_compute_packet(dma_transfer& next) {
    const dma_operation& operation = compute_->operation;
    sides_[dma_side::m2s].active = false;
    if (compute_->barrier && settings().has_barriers) barrier_ = true;
    packet_ = {};
    next.queue = this;
    next.source = operation.sources().front().address;
    next.destination = operation.destinations().front().address;
    next.length = static_cast<std::uint32_t>(operation.bytes_written());
    next.ends_source = next.ends_destination = next.ends_packet = true;
    next.abandoned = std::exchange(abandoned_, 0);
    next.interrupt = compute_->interrupt;
    next.compute = std::move(compute_);
}

// ---- Errors

bool dma_queue::error(dma_side side, unsigned cause, const misuse::rule& rule,
                      const std::string& detail, bool always_aborts) {
    if (sides_[dma_side::m2s].damaged || sides_[dma_side::s2m].damaged)
        misuse::hardware_failed();
    else
        misuse::report(rule, group().owner, describe() + ": " + detail);
    return raise(side, cause, always_aborts);
}

void dma_queue::access_error(dma_side side, unsigned cause, const misuse::rule& rule,
                             const std::string& detail, std::uint64_t reports) {
    if (misuse::reports() == reports)
        error(side, cause, rule, detail, true);
    else
        raise(side, cause, true);
}

void dma_queue::fetch_error(dma_side side, std::uint64_t ring_address, std::uint64_t reports) {
    access_error(
        side, side == dma_side::m2s ? cause::m2s_prefetch_response : cause::s2m_prefetch_response,
        misuse::unmapped_descriptor, fmt::format("{} ring at {:#x}", text(side), ring_address),
        reports);
}

void dma_queue::data_error(dma_side side, std::uint64_t address, std::uint64_t reports) {
    const bool reads = side == dma_side::m2s;
    access_error(side, reads ? cause::m2s_data_response : cause::s2m_data_response,
                 reads ? misuse::unmapped_source : misuse::unmapped_destination,
                 fmt::format("{:#x}", address), reports);
}

void dma_queue::fail() {
    set_aborted(dma_side::s2m, true);
    raise(dma_side::m2s, cause::m2s_data_parity, true);
}

bool dma_queue::refused(const std::optional<dma_operation::refusal>& why) {
    if (why) error(dma_side::m2s, why->cause, why->rule, why->why, true);
    return why.has_value();
}

bool dma_queue::raise(dma_side side, unsigned cause, bool always_aborts) {
    constexpr unsigned primary_d = 3;
    constexpr unsigned error_slot = 1;  // of the engine's notification queues
    register_bank& registers = group().regs;
    const unsigned engine = engine_.number;
    const unsigned secondary = static_cast<unsigned>(side);  // secondary group A or B
    const std::uint64_t bit = 1ull << cause;
    const auto add = [&](reg target, unsigned index, std::uint64_t bits) {
        registers.set(target, registers.get(target, index, engine) | bits, index, engine);
    };
    add(reg::secondary_cause, secondary, bit);
    if ((registers.get(reg::secondary_mask, secondary, engine) & bit) == 0)
        add(reg::primary_cause, primary_d, 0x100ull << secondary);
    if (!always_aborts && (registers.get(reg::secondary_abort_mask, secondary, engine) & bit) != 0)
        return false;
    group().notifications.post(
        error_slot,
        {notification::kind::error, static_cast<std::uint8_t>(number_), secondary << 8 | cause},
        engine);
    engine_.abort(side, number_);
    return true;
}

}  // namespace trn

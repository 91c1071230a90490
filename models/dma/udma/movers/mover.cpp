// SPDX-License-Identifier: Apache-2.0
#include "models/dma/udma/movers/mover.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "models/dma/udma/movers/timed_access.h"
#include "models/dma/udma/queues/axi.h"
#include "models/dma/udma/queues/queue.h"
#include "platform/framework/tlm/backing_store.h"
#include "platform/framework/tlm/streaming_copy.h"

namespace trn {

using sc_core::sc_time;

namespace {

/// Whether a copy of `size` bytes is evicted from the host's caches before anything reads it:
/// likely if the simulation uses more memory than they hold.
bool exceeds_caches(std::size_t size) {
    constexpr std::size_t least = 16384;  // bytes
    constexpr std::uint64_t caches = std::uint64_t{256} << 20;
    return size >= least && backing_store::known_in_use() > caches;
}

/// Copies in ascending bursts, each read before it is written: defines the result of overlapping
/// copies.
void copy(std::uint8_t* destination, const std::uint8_t* source, std::size_t length) {
    if (destination + length <= source || source + length <= destination) {
        if (exceeds_caches(length))
            streaming_copy(destination, source, length);
        else
            std::memcpy(destination, source, length);
        return;
    }
    for (std::size_t done = 0; done < length; done += axi::boundary)
        std::memmove(destination + done, source + done,
                     std::min<std::size_t>(axi::boundary, length - done));
}

/// Loads the first lines of a transfer into the host's caches while it is in flight. The host's own
/// prefetcher detects the rest, but would start with the copy.
void prefetch(const std::uint8_t* bytes, std::uint64_t length) {
    constexpr std::uint64_t line = 64, most = 8 * line;
    constexpr int reads = 0, second_level = 2;
    for (std::uint64_t offset = 0; offset < std::min(length, most); offset += line)
        __builtin_prefetch(bytes + offset, reads, second_level);
}

}  // namespace

dma_mover::dma_mover(dma_engine_context& engine)
    : engine_(engine),
      rate_({engine.group.times.bytes_per_second, sc_core::SC_ZERO_TIME}),
      pending_(engine.group.responded),
      compute_(engine.group.memory, pending_) {}

// ---- Start

void dma_mover::start(dma_transfer&& t, const sc_time& now) {
    const trace::on_behalf_of operation(t.queue->operation());
    if (trace::on())
        t.slice =
            trace::begin(engine_.trace_row(), t.compute ? t.compute->operation.name() : "copy",
                         {{"queue", t.queue->number()},
                          trace::hex("from", t.source),
                          trace::hex("to", t.destination),
                          {"bytes", t.length}});
    t.arrives_at = t.moves_at = reserve(t, now);
    if (!flight_.empty()) t.moves_at = std::max(t.moves_at, flight_.back().moves_at);
    t.queue->begin_transfer();
    bytes_in_flight_ += t.length;
    flight_.push_back(std::move(t));
}

/// Reserves the mover and all resources between source and destination from now on. All of them
/// stream, so the slowest determines the rate, and latencies add up.
sc_time dma_mover::reserve(const dma_transfer& t, const sc_time& now) {
    sc_time through = rate_.reserve(t.compute ? mover_bytes(t.compute->operation) : t.length, now);
    const bool functional = timing() == timing_mode::functional;
    if (!functional) {
        through += times().descriptor_overhead;
        if (t.compute) through += times().descriptor_overhead * (t.compute->m2s - 1);
        next_start_ = through;
    }
    std::array<sc_time, 2> latency;  // of the slowest source and destination
    const auto cross = [&](tlm::tlm_command command, std::uint64_t address, std::uint32_t length) {
        // operands are data, so even few bytes are not a register
        const auto* way = t.compute ? memory().find(command, address)
                                    : axi::window(memory(), command, address, length);
        if (way == nullptr) return;  // not plain memory: its bursts add their time when they move
        prefetch(way->at(address), way->room(address, length));
        through = std::max(through, way->reserve(command, address, length, now));
        sc_time& slowest = latency[command == tlm::TLM_WRITE_COMMAND ? 1 : 0];
        slowest = std::max(slowest, way->latency(command));
    };
    if (t.compute) {
        const dma_operation& operation = t.compute->operation;
        for (const auto& p : operation.sources()) cross(tlm::TLM_READ_COMMAND, p.address, p.length);
        for (const auto& p : operation.destinations()) {
            if (operation.accumulates() && !engine_.group.compute.accumulates_near_memory)
                cross(tlm::TLM_READ_COMMAND, p.address, p.length);
            cross(tlm::TLM_WRITE_COMMAND, p.address, p.length);
        }
    } else {
        cross(tlm::TLM_READ_COMMAND, t.source, t.length);
        cross(tlm::TLM_WRITE_COMMAND, t.destination, t.length);
    }
    if (functional) return now;  // the resources on the path have counted the bytes
    return through + latency[0] + latency[1];
}

/// Reads and writes overlap: the larger of both, scaled to the compute rate.
std::uint64_t dma_mover::mover_bytes(const dma_operation& operation) const {
    const auto& computing = engine_.group.compute;
    std::uint64_t read = operation.bytes_read();
    if (operation.accumulates() && !computing.accumulates_near_memory)
        read += operation.bytes_written();
    const unsigned permille =
        operation.transposes() ? computing.transpose_permille : computing.permille;
    return std::max(read, operation.bytes_written()) * 1000 / permille;
}

// ---- Completion

void dma_mover::complete_due(dma_activation& activation) {
    for (;;) {
        complete_arrived();
        dma_transfer* const t = flight_.to_move();
        if (t == nullptr) return;
        if (!t->dropped) {
            if (t->moves_at > activation.now || activation.spent()) return;
            const trace::on_behalf_of operation(t->slice.operation);
            if (move(*t, activation) == dma_progress::blocked) return;
            if (!t->dropped) t->queue->has_moved();
        }
        flight_.has_moved();
    }
}

/// Completes the oldest transfers whose bytes have arrived, in the order of their starts.
void dma_mover::complete_arrived() {
    while (flight_.front_has_moved()) {
        dma_transfer& t = flight_.front();
        if (!t.dropped) {
            if (!has_arrived(t)) return;
            finish(t);
        }
        const trace::on_behalf_of operation(t.slice.operation);
        if (trace::on())
            // No effect if it has already ended.
            trace::end(t.slice, engine_.trace_row(), "dropped");
        bytes_in_flight_ -= t.length;
        flight_.pop_front();
    }
}

dma_progress dma_mover::move(dma_transfer& t, dma_activation& activation) {
    --activation.transfers;
    const acting self(*t.queue);
    if (t.compute) {
        const dma_progress result = compute_.move(t);
        if (result != dma_progress::done) return result;
        bytes_ += t.length;
        const std::uint64_t moved = t.compute->operation.bytes_read() + t.length;
        activation.bytes -= std::min(activation.bytes, moved);
        return dma_progress::done;
    }
    while (t.moved < t.length && !t.dropped) {
        const std::uint32_t before = t.moved;
        const dma_progress result = copy_directly(t) ? dma_progress::done : copy_burst(t);
        const std::uint32_t moved = t.moved - before;
        bytes_ += moved;
        activation.bytes -= std::min<std::uint64_t>(activation.bytes, moved);
        if (result != dma_progress::done) return result;
    }
    return t.dropped ? dma_progress::failed : dma_progress::done;
}

/// Copies as many bytes as are in plain memory on both sides.
bool dma_mover::copy_directly(dma_transfer& t) {
    std::uint64_t length = t.length - t.moved;
    if (in_burst_ > 0 || pending_.is_deferred()) return false;
    const std::uint64_t source = t.source + t.moved, destination = t.destination + t.moved;
    const auto* readable = axi::window(memory(), tlm::TLM_READ_COMMAND, source, length);
    if (readable == nullptr) return false;
    length = readable->room(source, length);
    const std::uint8_t* bytes = readable->at(source);  // `readable` ends with the next window()
    const auto read = readable->watched_at(source);
    const auto* writable = axi::window(memory(), tlm::TLM_WRITE_COMMAND, destination, length);
    if (writable == nullptr) return false;
    length = writable->room(destination, length);
    const auto written = writable->watched_at(destination);
    if (std::array<std::uint8_t, 64> few; length <= few.size()) {
        // Software may have changed polled bytes by the time watchers are notified: copy them
        // first.
        std::memcpy(few.data(), bytes, length);
        read.report_read(few.data(), length);
        std::memcpy(writable->at(destination), few.data(), length);
        written.report_write(few.data(), length);
    } else {
        if (!copied_as_zeroes(writable->at(destination), bytes, length)) {
            provide_pages(writable->at(destination), length);
            copy(writable->at(destination), bytes, length);
        }
        read.report_read(writable->at(destination), length);
        written.report_write(writable->at(destination), length);
    }
    t.moved += static_cast<std::uint32_t>(length);
    return true;
}

/// Copies one burst through the sockets; if a memory defers it, the same burst is repeated later.
dma_progress dma_mover::copy_burst(dma_transfer& t) {
    const std::uint64_t source = t.source + t.moved, destination = t.destination + t.moved;
    auto reports = misuse::reports();
    if (burst_.empty()) burst_.resize(axi::boundary);
    if (in_burst_ == 0) {
        const std::uint32_t length =
            std::min({t.length - t.moved, axi::to_boundary(source), axi::to_boundary(destination)});
        const auto read = timed_access(t, memory(), tlm::TLM_READ_COMMAND, source, burst_.data(),
                                       length, pending_);
        if (t.dropped) return dma_progress::failed;
        if (read == memory_port::outcome::deferred) return dma_progress::blocked;
        if (read == memory_port::outcome::failed) {
            t.queue->data_error(dma_side::m2s, source, reports);
            return dma_progress::failed;
        }
        in_burst_ = length;
    }
    reports = misuse::reports();
    const auto write = timed_access(t, memory(), tlm::TLM_WRITE_COMMAND, destination, burst_.data(),
                                    in_burst_, pending_);
    if (t.dropped) return dma_progress::failed;
    if (write == memory_port::outcome::deferred) return dma_progress::blocked;
    if (write == memory_port::outcome::failed) {
        in_burst_ = 0;
        t.queue->data_error(dma_side::s2m, destination, reports);
        return dma_progress::failed;
    }
    t.moved += in_burst_;
    in_burst_ = 0;
    // The next burst waits. Transfers behind this one do not wait for its last burst.
    return t.moved < t.length ? wait_for_arrival(t) : dma_progress::done;
}

void dma_mover::finish(dma_transfer& t) {
    const trace::on_behalf_of operation(t.slice.operation);
    const dma_queue& q = *t.queue;
    if (trace::on())
        trace::end(t.slice, engine_.trace_row(), "completed",
                   {{"queue", q.number()}, {"bytes", t.length}});
    descriptors_ += t.queue->end_transfer(t);
    if (!t.interrupt) return;
    constexpr unsigned dma_trace_slot = 0;
    engine_.group.notifications.post(
        dma_trace_slot,
        {notification::kind::dma_trace, static_cast<std::uint8_t>(q.number()),
         q.ring(dma_side::s2m).head().value()},
        engine_.number);
}

// ---- Waiting

void dma_mover::drop(const dma_queue& queue) {
    if (const dma_transfer* t = flight_.to_move(); t != nullptr && t->queue == &queue) {
        pending_.abandon();
        in_burst_ = 0;
    }
    // Bytes on their way arrive: repeating them would write registers twice.
    for (dma_transfer& t : flight_.moved())
        if (t.queue == &queue && !t.dropped) finish(t);
    for (dma_transfer& t : flight_.all()) t.dropped |= t.queue == &queue;
}

sc_time dma_mover::due() const {
    sc_time earliest = never();
    const auto consider = [&earliest](const dma_transfer& t, const sc_time& time) {
        earliest = std::min(earliest, t.dropped ? sc_core::sc_time_stamp() : time);
    };
    if (flight_.front_has_moved()) consider(flight_.front(), flight_.front().arrives_at);
    const dma_transfer* next = flight_.to_move();
    if (next != nullptr && !pending_.is_deferred()) consider(*next, next->moves_at);
    return earliest;
}

std::optional<std::string> dma_mover::waits_for(const dma_queue& queue) const {
    const dma_transfer* t = flight_.to_move();
    if (!pending_.is_deferred() || t == nullptr || t->queue != &queue) return std::nullopt;
    return fmt::format("{}: no response of memory at {:#x} or {:#x}", queue.describe(), t->source,
                       t->destination);
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#include "models/dma/udma/movers/compute_mover.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "models/dma/udma/movers/timed_access.h"
#include "models/dma/udma/queues/axi.h"
#include "models/dma/udma/queues/queue.h"
#include "platform/framework/tlm/backing_store.h"

namespace trn {

/// Reads all operands, then writes the result. Accesses to plain memory happen at one moment, so
/// that no other access occurs between an accumulation's read and its write.
dma_progress dma_compute_mover::move(dma_transfer& t) {
    dma_compute_packet& packet = *t.compute;
    if (packet.written) return dma_progress::done;
    if (!packet.begun && reduce_in_place(packet.operation)) return dma_progress::done;
    if (!packet.begun) packet.operation.begin(operands_);
    packet.begun = true;
    for (;;) {
        const dma_progress result = move_accesses(t);
        if (result != dma_progress::done) return result;
        if (packet.operation.writing()) break;
        if (t.queue->refused(packet.operation.next_stage(operands_))) return dma_progress::failed;
        packet.access = 0;
    }
    packet.written = true;
    return wait_for_arrival(t);
}

/// Performs a reduction whose operands and results are each in one window of plain memory, the
/// usual case in collectives. False: nothing was done.
bool dma_compute_mover::reduce_in_place(const dma_operation& operation) {
    if (!operation.in_whole_pieces() || pending_.is_deferred()) return false;
    struct run {
        std::uint8_t* bytes;
        std::uint32_t length;
        memory_port::watch watched;
    };
    std::array<run, dma_operation::max_operands + 1> sources{};
    std::array<run, 2> destinations{};
    const auto find = [this](tlm::tlm_command command, const dma_operation::piece& p, run& found) {
        const auto* way = memory_.find(command, p.address);
        if (way == nullptr || way->room(p.address, p.length) < p.length) return false;
        found = {way->at(p.address), p.length, way->watched_at(p.address)};
        return true;
    };
    std::size_t operands = 0, results = 0;
    if (operation.accumulates() &&
        !find(tlm::TLM_READ_COMMAND, operation.destinations().front(), sources[operands++]))
        return false;
    for (const auto& p : operation.sources())
        if (!find(tlm::TLM_READ_COMMAND, p, sources[operands++])) return false;
    for (const auto& p : operation.destinations())
        if (!find(tlm::TLM_WRITE_COMMAND, p, destinations[results++])) return false;
    // Two addresses may refer to the same bytes.
    std::array<const std::uint8_t*, sources.size()> starts{};
    const run& result = destinations.front();
    for (std::size_t n = 0; n < operands; ++n) {
        const run& operand = sources[n];
        starts[n] = operand.bytes;
        if (operand.bytes < result.bytes + result.length &&
            result.bytes < operand.bytes + operand.length &&
            (operand.bytes != result.bytes || operand.length != result.length))
            return false;
    }
    for (const run& operand : std::span(sources).first(operands))
        operand.watched.report_read(operand.bytes, operand.length);
    for (const run& each : std::span(destinations).first(results))
        provide_pages(each.bytes, each.length);
    operation.reduce(std::span(starts).first(operands), result.bytes);
    for (const run& each : std::span(destinations).first(results)) {
        if (&each != &result) std::memmove(each.bytes, result.bytes, result.length);
        each.watched.report_write(each.bytes, each.length);
    }
    return true;
}

dma_progress dma_compute_mover::move_accesses(dma_transfer& t) {
    dma_compute_packet& packet = *t.compute;
    const auto& accesses = packet.operation.accesses();
    for (; packet.access < accesses.size(); ++packet.access, packet.moved = 0) {
        const dma_progress result = move_access(t, accesses[packet.access]);
        if (result != dma_progress::done) return result;
    }
    return dma_progress::done;
}

/// Moves data between memory and the buffer: by windows where available, else in bursts.
dma_progress dma_compute_mover::move_access(dma_transfer& t, const dma_operation::access& access) {
    dma_compute_packet& packet = *t.compute;
    const bool writes = packet.operation.writing();
    const auto command = writes ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND;
    while (packet.moved < access.length) {
        const std::uint64_t address = access.address + packet.moved;
        std::uint8_t* const bytes = operands_.data() + access.offset + packet.moved;
        const std::uint32_t left = access.length - packet.moved;
        const auto* way = memory_.find(command, address);
        if (way != nullptr && !pending_.is_deferred()) {
            const auto length = static_cast<std::uint32_t>(way->room(address, left));
            std::uint8_t* const memory = way->at(address);
            std::memcpy(writes ? memory : bytes, writes ? bytes : memory, length);
            if (writes)
                way->watched_at(address).report_write(memory, length);
            else
                way->watched_at(address).report_read(bytes, length);
            packet.moved += length;
            continue;
        }
        const std::uint32_t length = std::min(left, axi::to_boundary(address));
        const auto reports = misuse::reports();
        const auto result = timed_access(t, memory_, command, address, bytes, length, pending_);
        if (t.dropped) return dma_progress::failed;
        if (result == memory_port::outcome::deferred) return dma_progress::blocked;
        if (result == memory_port::outcome::failed) {
            t.queue->data_error(writes ? dma_side::s2m : dma_side::m2s, address, reports);
            return dma_progress::failed;
        }
        packet.moved += length;
    }
    return dma_progress::done;
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#include "models/dma/udma/generator/generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "models/dma/udma/dma_generator_regs.h"
#include "models/dma/udma/queues/axi.h"
#include "models/dma/udma/queues/queue.h"
#include "models/misuse_rules.h"

namespace trn {

namespace status = dma_generator_regs::status;
using dma_generator_regs::reg;
using sc_core::sc_time;

bool dma_generator::start(dma_queue& queue, const sc_time& delay) {
    const dma_group& group = engine_.group;
    if (is_busy(queue)) {
        misuse::report(misuse::generator_command, group.owner,
                       queue.describe() + ": START while the command before is being carried out");
        return false;
    }
    generator_command requested(group.generator_regs, queue.number(), engine_.number);
    if (const char* why = reason_to_refuse(requested, queue)) return refuse(queue, why);
    insert({.queue = &queue,
            .request = std::move(requested),
            .arrived_at = sc_core::sc_time_stamp() + delay,
            .operation = trace::current_or_new_operation(),
            .started = started_work::current()});
    show_status(queue, status::busy.mask());
    return true;
}

/// The reason to refuse the command; null: it can be executed once its rings have room.
const char* dma_generator::reason_to_refuse(const generator_command& command, dma_queue& queue) {
    if (!command.is_valid()) return "no pieces, too many, or pieces of no or too many bytes";
    for (const dma_side side : dma_sides) {
        queue.adopt_length(side);
        if (queue.is_aborted(side)) return "the queue is stopped";
        if (command.descriptors(side) > queue.ring(side).length())
            return "a ring is shorter than the command's descriptors";
    }
    return nullptr;
}

bool dma_generator::refuse(const dma_queue& queue, std::string_view why) {
    misuse::report(misuse::generator_command, engine_.group.owner,
                   fmt::format("{}: {}", queue.describe(), why));
    show_status(queue, status::failed.mask());
    return false;
}

/// Inserts a command after the current one and after all of the same or a higher priority.
void dma_generator::insert(command added) {
    const dma_group::timing& times = engine_.group.times;
    const sc_time duration =
        timing() == timing_mode::functional ? times.functional_step : times.generation_latency;
    auto place = commands_.begin();
    if (place != commands_.end()) ++place;
    place = std::find_if(place, commands_.end(), [&](const command& c) {
        return c.request.priority() < added.request.priority();
    });
    place = commands_.insert(place, std::move(added));
    for (; place != commands_.end(); ++place) {
        sc_time begin = place->arrived_at;
        if (place != commands_.begin()) begin = std::max(begin, std::prev(place)->ready_at);
        place->ready_at = begin + duration;
    }
}

std::optional<dma_generator::written> dma_generator::step(dma_activation& activation) {
    while (!commands_.empty() && !activation.spent()) {
        command& c = commands_.front();
        if (c.ready_at > activation.now || lacks_room()) break;
        const trace::on_behalf_of operation(c.operation);
        std::optional<written> finished;
        if (!c.dropped && (c.begun || begin(c))) {
            const dma_progress result = write(c);
            if (result == dma_progress::blocked) break;
            --activation.transfers;
            if (result == dma_progress::done && !c.dropped) {
                const per_side<std::uint32_t> count{
                    {{c.request.descriptors(dma_side::m2s), c.request.descriptors(dma_side::s2m)}}};
                show_status(*c.queue, count[dma_side::s2m]);
                finished.emplace(*c.queue, count, c.operation, std::move(c.started));
            }
        }
        commands_.pop_front();
        if (finished) return finished;
    }
    return std::nullopt;
}

bool dma_generator::is_busy(const dma_queue& queue) const {
    return status::busy.get(
               engine_.group.generator_regs.get(reg::status, queue.number(), engine_.number)) != 0;
}

void dma_generator::show_status(const dma_queue& queue, std::uint64_t status) {
    engine_.group.generator_regs.set(reg::status, status, queue.number(), engine_.number);
}

/// False: refused, because software has changed the rings since START.
bool dma_generator::begin(command& c) {
    if (const char* why = reason_to_refuse(c.request, *c.queue)) return refuse(*c.queue, why);
    for (const dma_side side : dma_sides) c.tail[side] = c.queue->ring(side).tail();
    return c.begun = true;
}

bool dma_generator::lacks_room() const {
    if (commands_.empty()) return false;
    const command& c = commands_.front();
    return !c.begun && !c.dropped && std::ranges::any_of(dma_sides, [&](dma_side side) {
        const dma_ring& ring = c.queue->ring(side);
        const std::uint32_t needed = c.request.descriptors(side);
        return needed > ring.room() && needed <= ring.length();
    });
}

dma_progress dma_generator::write(command& c) {
    const acting self(*c.queue);
    for (; c.side < dma_sides.size(); ++c.side, c.written = 0) {
        const dma_progress result = write_side(c, dma_sides[c.side]);
        if (result != dma_progress::done) return result;
    }
    return dma_progress::done;
}

dma_progress dma_generator::write_side(command& c, dma_side side) {
    dma_queue& q = *c.queue;
    const std::uint32_t count = c.request.descriptors(side), ring_length = q.ring(side).length();
    std::array<dma_descriptor, axi::boundary / sizeof(dma_descriptor)> burst;
    while (c.written < count) {
        dma_ring::position position = c.tail[side];
        position.advance(c.written, ring_length);
        const std::uint64_t address =
            q.settings().ring_base[side] + std::uint64_t{position.index} * sizeof(dma_descriptor);
        const auto fits = static_cast<std::uint32_t>(axi::to_boundary(address) / sizeof burst[0]);
        const std::uint32_t n = std::min({count - c.written, ring_length - position.index, fits});
        for (std::uint32_t i = 0; i < n; ++i)
            burst[i] = c.request.descriptor(side, c.written + i, position.pass);
        const auto reports = misuse::reports();
        sc_time delay;  // hidden by the latency of the command
        const auto result = engine_.group.memory.access(
            tlm::TLM_WRITE_COMMAND, address, burst.data(),
            n * static_cast<unsigned>(sizeof burst[0]), pending_, delay);
        if (c.dropped) return dma_progress::failed;
        if (result == memory_port::outcome::deferred) return dma_progress::blocked;
        if (result == memory_port::outcome::failed) {
            q.fetch_error(side, address, reports);
            return dma_progress::failed;
        }
        c.written += n;
    }
    return dma_progress::done;
}

void dma_generator::drop(const dma_queue& queue) {
    if (!commands_.empty() && commands_.front().queue == &queue) pending_.abandon();
    for (command& c : commands_) {
        if (c.dropped || c.queue != &queue) continue;
        c.dropped = true;
        if (is_busy(queue)) show_status(queue, status::failed.mask());  // unless it was reset
    }
}

void dma_generator::release_hosts() {
    for (command& c : commands_) c.started = nullptr;
}

sc_time dma_generator::due() const {
    if (commands_.empty() || pending_.is_deferred() || lacks_room()) return never();
    return commands_.front().ready_at;
}

std::optional<std::string> dma_generator::waits_for() const {
    const bool memory = pending_.is_deferred();
    if (!memory && !lacks_room()) return std::nullopt;
    return fmt::format("{}: {} the descriptor generator", commands_.front().queue->describe(),
                       memory ? "no response of ring memory to" : "no room in a ring for");
}

}  // namespace trn

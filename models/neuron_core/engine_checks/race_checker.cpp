// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_core/engine_checks/race_checker.h"

#include <algorithm>
#include <utility>

namespace trn {

namespace {

constexpr std::int64_t bank_bytes = 2048;
constexpr unsigned indices = 256;

unsigned number_of(isa::engine e) {
    return static_cast<unsigned>(e);
}

/// Returns the first byte that elements of both tiles cover, in a partition that both have.
std::optional<std::int64_t> common_byte(const race_checker::access& x,
                                        const race_checker::access& y) {
    const std::int64_t first = std::max(x.bounds.first_byte, y.bounds.first_byte);
    const std::int64_t last = std::min(x.bounds.last_byte, y.bounds.last_byte);
    std::vector<bool> covered(static_cast<std::size_t>(last - first + 1));
    const auto for_bytes = [&](const race_checker::access& a, auto visit) {
        const std::int64_t size = numerics::size_of(a.tile.type);
        a.tile.for_elements([&](std::int64_t start) {
            for (std::int64_t b = std::max(start, first); b <= std::min(start + size - 1, last);
                 ++b)
                visit(static_cast<std::size_t>(b - first));
        });
    };
    for_bytes(x, [&](std::size_t b) { covered[b] = true; });
    std::optional<std::int64_t> found;
    for_bytes(y, [&](std::size_t b) {
        if (covered[b] && !found) found = first + static_cast<std::int64_t>(b);
    });
    return found;
}

}  // namespace

race_checker::race_checker(const isa::partition_sizes& sizes)
    : sizes_(sizes), agents_(other_dma + 1) {
    agents_[other_dma].kind = agent_kind::other_dma;
}

void race_checker::join(clock& destination, const clock& source) {
    if (destination.size() < source.size()) destination.resize(source.size());
    for (std::size_t a = 0; a < source.size(); ++a)
        destination[a] = std::max(destination[a], source[a]);
}

void race_checker::learn(clock& destination, std::size_t agent, std::uint64_t number) {
    if (destination.size() <= agent) destination.resize(agent + 1);
    destination[agent] = std::max(destination[agent], number);
}

/// The agent of a queue; other DMA if no engine has given the queue work.
std::size_t race_checker::agent_of(std::optional<unsigned> queue) const {
    if (!queue) return other_dma;
    const auto found = queues_.find(*queue);
    return found == queues_.end() ? other_dma : found->second;
}

std::uint64_t race_checker::completed(std::size_t agent) const {
    for (const flight& f : agents_[agent].flights)
        if (f.complete > sc_core::sc_time_stamp()) return f.number - 1;
    return agents_[agent].issued;
}

race_checker::clock race_checker::all_completed() const {
    clock c(agents_.size());
    for (std::size_t a = 0; a < c.size(); ++a) c[a] = completed(a);
    return c;
}

/// The host has started the engine, and may have started queues before.
void race_checker::started(isa::engine e) {
    engine_agent(e).active = true;
    const clock all = all_completed();
    join(engine_agent(e).known, all);
    for (const auto& [queue, agent] : queues_) join(agents_[agent].known, all);
}

void race_checker::learned_all(isa::engine e) {
    join(engine_agent(e).known, all_completed());
}

void race_checker::rang(isa::engine e, unsigned queue) {
    const auto [entry, is_new] = queues_.try_emplace(queue, agents_.size());
    if (is_new) {
        agent& added = agents_.emplace_back();
        added.kind = agent_kind::queue;
        added.queue = queue;
    }
    clock& known = agents_[entry->second].known;
    join(known, engine_agent(e).known);
    learn(known, number_of(e), completed(number_of(e)));
}

/// After the last engine has ended, the host may start the queues that the engines used.
void race_checker::ended(isa::engine e) {
    engine_agent(e).active = false;
    join(outside_, engine_agent(e).known);
    learn(outside_, number_of(e), completed(number_of(e)));
    if (std::ranges::any_of(agents_, &agent::active)) return;
    for (const auto& [queue, agent] : queues_) join(agents_[agent].known, outside_);
}

void race_checker::posted(isa::engine e, unsigned index, bool at_issue) {
    posted_.resize(indices);
    join(posted_[index], engine_agent(e).known);
    learn(posted_[index], number_of(e),
          at_issue ? engine_agent(e).issued : completed(number_of(e)));
}

/// A queue posts after all its earlier writes, since it writes in order. Agents outside the core
/// may also have started it, after other DMA.
void race_checker::posted_from_outside(unsigned index, std::optional<unsigned> queue) {
    posted_.resize(indices);
    const std::size_t agent = agent_of(queue);
    if (agent == other_dma) return join(posted_[index], all_completed());
    join(posted_[index], agents_[agent].known);
    learn(posted_[index], agent, agents_[agent].issued);
    learn(posted_[index], other_dma, agents_[other_dma].issued);
}

void race_checker::waited(isa::engine e, unsigned index) {
    if (!posted_.empty()) join(engine_agent(e).known, posted_[index]);
}

/// Drops completed accesses known to all running engines, and to all queues if an engine's.
void race_checker::forget_ordered() {
    const sc_core::sc_time now = sc_core::sc_time_stamp();
    for (std::size_t a = 0; a < agents_.size(); ++a) {
        auto& flights = agents_[a].flights;
        if (flights.empty()) continue;
        std::uint64_t known = ~std::uint64_t{0};
        for (std::size_t other = 0; other < agents_.size(); ++other) {
            const bool looks = agents_[other].kind == agent_kind::queue
                                   ? agents_[a].kind == agent_kind::engine
                                   : agents_[other].active;
            if (other != a && looks) known = std::min(known, known_number(agents_[other].known, a));
        }
        while (!flights.empty() && flights.front().number <= known &&
               flights.front().complete <= now)
            flights.pop_front();
    }
}

void race_checker::add_flight(std::size_t agent, flight f) {
    auto& flights = agents_[agent].flights;
    f.number = ++agents_[agent].issued;
    f.hull = hull_of(f.accesses);
    flights.push_back(std::move(f));
    if (flights.size() > max_flights) flights.pop_front();
}

isa::footprint race_checker::hull_of(const std::vector<access>& accesses) {
    isa::footprint hull;
    for (const access& a : accesses) {
        const isa::footprint& b = a.bounds;
        if (&a == accesses.data()) hull = b;
        hull.partitions = hull.partitions | b.partitions;
        hull.first_byte = std::min(hull.first_byte, b.first_byte);
        hull.last_byte = std::max(hull.last_byte, b.last_byte);
    }
    // Accesses may mix spaces, and overlaps() is false for different ones: use SBUF for all hulls.
    if (!accesses.empty()) hull.space = isa::space::sbuf;
    return hull;
}

std::optional<isa::location> race_checker::common(const access& x, const access& y) const {
    if (!(x.writes || y.writes) || !x.bounds.overlaps(y.bounds)) return std::nullopt;
    const auto byte = common_byte(x, y);
    if (!byte) return std::nullopt;
    const unsigned partition = (x.bounds.partitions & y.bounds.partitions).first();
    return isa::location{x.bounds.space, static_cast<std::uint8_t>(partition),
                         static_cast<std::uint32_t>(*byte)};
}

std::optional<isa::location> race_checker::same_bank(const access& x, const access& y) const {
    if (!x.writes || !y.writes) return std::nullopt;
    const auto widened = [](isa::footprint f) {
        f.first_byte = f.first_byte / bank_bytes * bank_bytes;
        f.last_byte = f.last_byte / bank_bytes * bank_bytes + bank_bytes - 1;
        return f;
    };
    const isa::footprint a = widened(x.bounds), b = widened(y.bounds);
    if (a.space != isa::space::psum || !a.overlaps(b)) return std::nullopt;
    return isa::location{a.space, static_cast<std::uint8_t>((a.partitions & b.partitions).first()),
                         static_cast<std::uint32_t>(std::max(a.first_byte, b.first_byte))};
}

race_checker::conflict race_checker::conflict_with(const agent& other, const flight& f,
                                                   conflict::kind nature,
                                                   const isa::location& first) const {
    const auto engine =
        static_cast<isa::engine>(other.kind == agent_kind::engine ? &other - agents_.data() : 0);
    return {nature, other.kind, other.queue, engine, f.pc, first};
}

std::optional<race_checker::conflict> race_checker::issued(isa::engine e, std::uint32_t pc,
                                                           std::vector<access> accesses,
                                                           const sc_core::sc_time& complete) {
    const std::size_t own = number_of(e);
    const sc_core::sc_time now = sc_core::sc_time_stamp();
    forget_ordered();
    std::optional<conflict> found;
    for (std::size_t a = 0; a < agents_.size(); ++a) {
        const agent& other = agents_[a];
        if (a == own) continue;
        const bool tensor = other.kind == agent_kind::engine &&
                            (e == isa::engine::tensor || a == number_of(isa::engine::tensor));
        for (const flight& f : after(other, known_number(engine_agent(e).known, a)))
            for (const access& mine : accesses)
                for (const access& theirs : f.accesses) {
                    if (found && found->nature == conflict::kind::race) break;
                    if (const auto byte = common(mine, theirs))
                        found = conflict_with(other, f, conflict::kind::race, *byte);
                    else if (!found && tensor && f.complete > now)
                        if (const auto bank = same_bank(mine, theirs))
                            found = conflict_with(other, f, conflict::kind::collision, *bank);
                }
    }
    add_flight(own, {0, pc, complete, std::move(accesses), {}});
    return found;
}

/// Converts a transfer to one access per partition.
std::vector<race_checker::access> race_checker::rows_of(const transfer& t) const {
    const std::uint64_t pitch = t.space == isa::space::psum ? sizes_.psum : sizes_.sbuf;
    const std::uint64_t last = t.first + t.bytes - 1;
    std::vector<access> rows;
    for (std::uint64_t p = t.first / pitch; p <= last / pitch; ++p) {
        access row;
        row.writes = t.writes;
        row.bounds = {t.space,
                      {static_cast<unsigned>(p), 1},
                      static_cast<std::int64_t>(std::max(t.first, p * pitch) - p * pitch),
                      static_cast<std::int64_t>(std::min(last, (p + 1) * pitch - 1) - p * pitch)};
        row.tile.place = {t.space, static_cast<std::uint8_t>(p),
                          static_cast<std::uint32_t>(row.bounds.first_byte)};
        row.tile.type = numerics::element::uint8;
        row.tile.dimensions = 2;
        // A run of bytes as rows of 256; the last row may exceed the end of the bounds.
        row.tile.pattern[0] = {1, 256};
        row.tile.pattern[1] = {256, static_cast<std::uint16_t>(
                                        (row.bounds.last_byte - row.bounds.first_byte) / 256 + 1)};
        rows.push_back(row);
    }
    return rows;
}

std::optional<race_checker::conflict> race_checker::moved(const transfer& t) {
    const sc_core::sc_time now = sc_core::sc_time_stamp();
    if (t.bytes == 0) return std::nullopt;
    const std::size_t own = agent_of(t.queue);
    std::vector<access> rows = rows_of(t);
    const isa::footprint hull = hull_of(rows);  // to skip distant transfers quickly
    std::optional<conflict> found;
    for (std::size_t a = 0; a < agents_.size() && !found; ++a) {
        if (a == own || a == other_dma) continue;
        for (const flight& f : after(agents_[a], known_number(agents_[own].known, a))) {
            if ((own == other_dma && f.complete <= now) || !f.hull.overlaps(hull)) continue;
            for (const access& theirs : f.accesses)
                for (const access& row : rows)
                    if (const auto byte = found ? std::nullopt : common(row, theirs))
                        found = conflict_with(agents_[a], f, conflict::kind::race, *byte);
        }
    }
    add_flight(own, {0, 0, now, std::move(rows), {}});
    return found;
}

}  // namespace trn

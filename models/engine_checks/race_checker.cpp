// SPDX-License-Identifier: Apache-2.0
#include "models/engine_checks/race_checker.h"

#include <algorithm>
#include <utility>

namespace trn {

namespace {

constexpr std::int64_t bank_bytes = 2048;
constexpr unsigned indices = 256;

unsigned number_of(isa::engine e) {
    return static_cast<unsigned>(e);
}

/// The first byte that the elements of both tiles cover, of a partition that both have.
std::optional<std::int64_t> common_byte(const race_checker::access& x,
                                        const race_checker::access& y) {
    const std::int64_t first = std::max(x.bounds.first_byte, y.bounds.first_byte);
    const std::int64_t last = std::min(x.bounds.last_byte, y.bounds.last_byte);
    std::vector<bool> covered(static_cast<std::size_t>(last - first + 1));
    const auto for_bytes = [&](const race_checker::access& a, auto visit) {
        const std::int64_t size = numerics::size_of(a.tile.type);
        race_checker::for_elements(a.tile, [&](std::int64_t at) {
            for (std::int64_t b = std::max(at, first); b <= std::min(at + size - 1, last); ++b)
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

void race_checker::join(clock& into, const clock& from) {
    for (unsigned e = 0; e < into.size(); ++e) into[e] = std::max(into[e], from[e]);
}

std::uint64_t race_checker::completed(unsigned e) const {
    for (const flight& f : flights_[e])
        if (f.complete > sc_core::sc_time_stamp()) return f.number - 1;
    return issued_[e];
}

race_checker::clock race_checker::all_completed() const {
    clock c{};
    for (unsigned e = 0; e < c.size(); ++e) c[e] = completed(e);
    return c;
}

void race_checker::started(isa::engine e) {
    active_[number_of(e)] = true;
    learned_all(e);
}

void race_checker::learned_all(isa::engine e) {
    join(known_[number_of(e)], all_completed());
}

void race_checker::posted(isa::engine e, unsigned index, bool at_issue) {
    posted_.resize(indices);
    const unsigned own = number_of(e);
    join(posted_[index], known_[own]);
    const std::uint64_t done = at_issue ? issued_[own] : completed(own);
    posted_[index][own] = std::max(posted_[index][own], done);
}

void race_checker::posted_from_outside(unsigned index) {
    posted_.resize(indices);
    join(posted_[index], all_completed());
}

void race_checker::waited(isa::engine e, unsigned index) {
    if (!posted_.empty()) join(known_[number_of(e)], posted_[index]);
}

/// Forgets instructions that are complete and that every running engine knows of.
void race_checker::forget_ordered() {
    const sc_core::sc_time now = sc_core::sc_time_stamp();
    for (unsigned e = 0; e < flights_.size(); ++e) {
        std::uint64_t known = ~std::uint64_t{0};
        for (unsigned other = 0; other < known_.size(); ++other)
            if (other != e && active_[other]) known = std::min(known, known_[other][e]);
        auto& of = flights_[e];
        while (!of.empty() && (of.size() > max_flights ||
                               (of.front().number <= known && of.front().complete <= now)))
            of.pop_front();
    }
}

std::optional<isa::location> race_checker::common(const access& x, const access& y) const {
    if (!(x.writes || y.writes) || !x.bounds.overlaps(y.bounds)) return std::nullopt;
    const auto byte = common_byte(x, y);
    if (!byte) return std::nullopt;
    const unsigned partition = std::max(x.bounds.first_partition, y.bounds.first_partition);
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
    return isa::location{a.space,
                         static_cast<std::uint8_t>(std::max(a.first_partition, b.first_partition)),
                         static_cast<std::uint32_t>(std::max(a.first_byte, b.first_byte))};
}

std::optional<race_checker::conflict> race_checker::issued(isa::engine e, std::uint32_t pc,
                                                           std::vector<access> accesses,
                                                           const sc_core::sc_time& complete) {
    const unsigned own = number_of(e);
    const sc_core::sc_time now = sc_core::sc_time_stamp();
    forget_ordered();
    std::optional<conflict> found;
    for (unsigned other = 0; other < flights_.size(); ++other) {
        if (other == own) continue;
        const bool tensor = e == isa::engine::tensor || other == number_of(isa::engine::tensor);
        for (const flight& f : flights_[other]) {
            if (f.number <= known_[own][other]) continue;
            for (const access& mine : accesses)
                for (const access& theirs : f.accesses) {
                    const auto who = static_cast<isa::engine>(other);
                    if (found && found->what == conflict::kind::race) break;
                    if (const auto at = common(mine, theirs))
                        found = {conflict::kind::race, who, f.pc, *at};
                    else if (!found && tensor && f.complete > now)
                        if (const auto bank = same_bank(mine, theirs))
                            found = {conflict::kind::collision, who, f.pc, *bank};
                }
        }
    }
    flights_[own].push_back({++issued_[own], pc, complete, std::move(accesses)});
    return found;
}

std::optional<race_checker::conflict> race_checker::moved(const transfer& t) const {
    const sc_core::sc_time now = sc_core::sc_time_stamp();
    const std::uint64_t pitch = t.space == isa::space::psum ? sizes_.psum : sizes_.sbuf;
    if (t.bytes == 0) return std::nullopt;
    for (unsigned e = 0; e < flights_.size(); ++e)
        for (const flight& f : flights_[e]) {
            if (f.complete <= now) continue;
            for (const access& theirs : f.accesses) {
                if (theirs.bounds.space != t.space || !(theirs.writes || t.writes)) continue;
                const std::uint64_t last = t.first + t.bytes - 1;
                for (std::uint64_t p =
                         std::max<std::uint64_t>(t.first / pitch, theirs.bounds.first_partition);
                     p <= std::min<std::uint64_t>(last / pitch, theirs.bounds.last_partition);
                     ++p) {
                    access row;
                    row.writes = t.writes;
                    row.bounds = {
                        t.space, static_cast<unsigned>(p), static_cast<unsigned>(p),
                        static_cast<std::int64_t>(std::max(t.first, p * pitch) - p * pitch),
                        static_cast<std::int64_t>(std::min(last, (p + 1) * pitch - 1) - p * pitch)};
                    row.tile = {};
                    row.tile.where = {t.space, static_cast<std::uint8_t>(p),
                                      static_cast<std::uint32_t>(row.bounds.first_byte)};
                    row.tile.type = numerics::element::uint8;
                    row.tile.dimensions = 2;
                    // A run of bytes as rows of 256, which may exceed the end of the bounds.
                    row.tile.pattern[0] = {1, 256};
                    row.tile.pattern[1] = {
                        256, static_cast<std::uint16_t>(
                                 (row.bounds.last_byte - row.bounds.first_byte) / 256 + 1)};
                    if (const auto at = common(row, theirs))
                        return conflict{conflict::kind::race, static_cast<isa::engine>(e), f.pc,
                                        *at};
                }
            }
        }
    return std::nullopt;
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <systemc>
#include <vector>

#include "models/sequencer/issue_window.h"

namespace trn {

/// Finds accesses to the same bytes of SBUF and PSUM that no semaphore or event orders (NeuronCore
/// spec 5.5). Engines are ordered by vector clocks: an engine that waited for a semaphore knows all
/// that its posters had completed. Whatever the clocks cannot follow (the host, DMA, other cores,
/// polling of memory) counts as order, so a race that is reported is one. DMA races with
/// instructions that are in flight.
class race_checker {
public:
    /// Bytes that one operand reads or writes.
    struct access {
        isa::tile_operand tile;
        isa::footprint bounds;
        bool writes = false;
    };
    struct conflict {
        enum class kind : std::uint8_t { race, collision };
        kind what = kind::race;
        isa::engine other{};
        std::uint32_t other_pc = 0;
        isa::location first;  ///< of the bytes in common; of a collision, of the bank
    };
    struct transfer {
        isa::space space = isa::space::none;
        std::uint64_t first = 0, bytes = 0;  ///< from byte 0 of partition 0 on
        bool writes = false;
    };

    /// Calls visit(first byte in the partition) for each element of a partition. Precondition: not
    /// indirect.
    template <class Visit>
    static void for_elements(const isa::tile_operand& t, Visit&& visit) {
        const auto count = [&](unsigned d) -> int {
            return d < t.dimensions ? t.pattern[d].count : 1;
        };
        const std::int64_t size = numerics::size_of(t.type);
        for (int d3 = 0; d3 < count(3); ++d3)
            for (int d2 = 0; d2 < count(2); ++d2)
                for (int d1 = 0; d1 < count(1); ++d1)
                    for (int d0 = 0; d0 < count(0); ++d0)
                        visit(t.where.offset + size * (std::int64_t{d0} * t.pattern[0].stride +
                                                       std::int64_t{d1} * t.pattern[1].stride +
                                                       std::int64_t{d2} * t.pattern[2].stride +
                                                       std::int64_t{d3} * t.pattern[3].stride));
    }

    explicit race_checker(const isa::partition_sizes& sizes) : sizes_(sizes) {}

    void started(isa::engine e);
    /// An instruction whose accesses end at `complete`: what it conflicts with.
    std::optional<conflict> issued(isa::engine e, std::uint32_t pc, std::vector<access> accesses,
                                   const sc_core::sc_time& complete);
    std::optional<conflict> moved(const transfer& t) const;
    void posted(isa::engine e, unsigned index, bool at_issue);
    /// By an agent that is not an engine of this core.
    void posted_from_outside(unsigned index);
    void waited(isa::engine e, unsigned index);
    /// The engine may know whatever has completed.
    void learned_all(isa::engine e);
    void reset() { *this = race_checker(sizes_); }

private:
    static constexpr std::size_t max_flights = 256;  ///< of each engine; older ones are forgotten

    /// Instruction numbers by engine: all up to them are known to have completed.
    using clock = std::array<std::uint64_t, isa::engine_count>;
    struct flight {
        std::uint64_t number;
        std::uint32_t pc;
        sc_core::sc_time complete;
        std::vector<access> accesses;
    };

    static void join(clock& into, const clock& from);
    clock all_completed() const;
    std::uint64_t completed(unsigned e) const;
    void forget_ordered();
    std::optional<isa::location> common(const access& x, const access& y) const;
    std::optional<isa::location> same_bank(const access& x, const access& y) const;

    isa::partition_sizes sizes_;
    std::array<bool, isa::engine_count> active_{};
    std::array<std::uint64_t, isa::engine_count> issued_{};
    std::array<clock, isa::engine_count> known_{};  // by each engine
    std::vector<clock> posted_;                     // by semaphore or event, from the first post on
    std::array<std::deque<flight>, isa::engine_count> flights_;
};

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <systemc>
#include <vector>

#include "models/neuron_core/sequencer/timing/issue_window.h"

namespace trn {

/// Detects accesses to the same bytes of SBUF and PSUM that no semaphore or event orders
/// (NeuronCore spec 5.5). Agents are the engines, the DMA queues that they give work to, and one
/// agent for all other DMA. Vector clocks order them: an engine that waited for a semaphore knows
/// all that its posters had completed; a queue knows all that the engines knew that rang its
/// doorbell. The clocks take what they cannot follow (the host, other cores, polling of memory) as
/// order, so every reported race is one. Other DMA is assumed to know all that is complete, so it
/// races with instructions in flight, and with later ones that have not waited for an agent outside
/// the core.
class race_checker {
public:
    /// Bytes that one operand reads or writes.
    struct access {
        isa::tile_operand tile;
        isa::footprint bounds;
        bool writes = false;
    };
    enum class agent_kind : std::uint8_t { engine, queue, other_dma };
    struct conflict {
        enum class kind : std::uint8_t { race, collision };
        kind nature = kind::race;
        agent_kind other_kind = agent_kind::engine;  ///< the other agent
        unsigned queue = 0;                          ///< if `other_kind` is agent_kind::queue
        isa::engine other{};                         ///< if `other_kind` is agent_kind::engine
        std::uint32_t other_pc = 0;
        isa::location first;  ///< first common byte; for a collision, its bank
    };
    /// Bytes that a DMA queue moves now. Queue numbers are 16 x DMA engine of the core + queue.
    struct transfer {
        isa::space space = isa::space::none;
        std::uint64_t first = 0, bytes = 0;  ///< counted from byte 0 of partition 0
        bool writes = false;
        std::optional<unsigned> queue;  ///< nullopt: DMA outside the core's own engines
    };
    static constexpr unsigned queues_per_engine = 16;

    explicit race_checker(const isa::partition_sizes& sizes);

    void started(isa::engine e);
    void ended(isa::engine e);
    /// Records an instruction whose accesses end at `complete`. \returns its first conflict
    std::optional<conflict> issued(isa::engine e, std::uint32_t pc, std::vector<access> accesses,
                                   const sc_core::sc_time& complete);
    std::optional<conflict> moved(const transfer& t);
    /// The engine gives work to a queue.
    void rang(isa::engine e, unsigned queue);
    void posted(isa::engine e, unsigned index, bool at_issue);
    /// Post by an agent outside the core's engines; `queue`: the posting queue of its DMA engines.
    void posted_from_outside(unsigned index, std::optional<unsigned> queue);
    void waited(isa::engine e, unsigned index);
    /// The engine may know all that has completed, for example by polling memory.
    void learned_all(isa::engine e);
    void reset() { *this = race_checker(sizes_); }

private:
    static constexpr std::size_t max_flights = 256;  ///< per agent; older ones are dropped

    /// Per agent, the number of its last instruction or transfer that is known to have completed.
    /// Agents beyond the end of the vector are unknown.
    using clock = std::vector<std::uint64_t>;
    struct flight {
        std::uint64_t number;
        std::uint32_t pc;
        sc_core::sc_time complete;
        std::vector<access> accesses;
        isa::footprint hull;  // contains all accesses; `space` is a placeholder
    };
    struct agent {
        agent_kind kind = agent_kind::engine;
        unsigned queue = 0;
        bool active = false;  // whether the engine runs
        std::uint64_t issued = 0;
        clock known;
        std::deque<flight> flights;
    };

    static constexpr std::size_t other_dma = isa::engine_count;  // agent number

    static std::uint64_t known_number(const clock& c, std::size_t agent) {
        return agent < c.size() ? c[agent] : 0;
    }
    static void join(clock& destination, const clock& source);
    static void learn(clock& destination, std::size_t agent, std::uint64_t number);
    agent& engine_agent(isa::engine e) { return agents_[static_cast<std::size_t>(e)]; }
    std::size_t agent_of(std::optional<unsigned> queue) const;
    /// A part of an agent's accesses, in order.
    struct some_flights {
        std::deque<flight>::const_iterator first, last;

        auto begin() const { return first; }
        auto end() const { return last; }
    };
    /// The accesses of `a` with numbers after `known`.
    static some_flights after(const agent& a, std::uint64_t known) {
        const std::uint64_t forgotten = a.issued - a.flights.size();
        const auto before = static_cast<std::ptrdiff_t>(std::max(known, forgotten) - forgotten);
        return {a.flights.begin() + before, a.flights.end()};
    }
    clock all_completed() const;
    std::uint64_t completed(std::size_t agent) const;
    void add_flight(std::size_t agent, flight f);
    void forget_ordered();
    static isa::footprint hull_of(const std::vector<access>& accesses);
    conflict conflict_with(const agent& other, const flight& f, conflict::kind nature,
                           const isa::location& first) const;
    std::vector<access> rows_of(const transfer& t) const;
    std::optional<isa::location> common(const access& x, const access& y) const;
    std::optional<isa::location> same_bank(const access& x, const access& y) const;

    isa::partition_sizes sizes_;
    clock outside_;                           // known by the ends of programs
    std::vector<agent> agents_;               // the engines, other DMA, then queues
    std::map<unsigned, std::size_t> queues_;  // agent of each queue
    std::vector<clock> posted_;               // per semaphore or event; empty before the first post
};

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <systemc>
#include <vector>

#include "models/udma/generator.h"
#include "models/udma/group.h"
#include "models/udma/mover.h"
#include "models/udma/queue.h"
#include "models/udma/ring.h"

namespace trn {

/// One DMA engine: 16 queues that share a data mover and a descriptor generator. It has no process:
/// the group calls step() when the engine is due. Spec: doc/models/udma.md.
///
/// A queue is a pair of descriptor streams. Each side's descriptors are fetched in bursts; bytes of
/// the source stream go to the destination stream in order, split wherever either side's
/// descriptor ends. Such a piece is a transfer: started when the mover is free, its bytes move when
/// it completes. Queues take turns at packet boundaries.
class dma_engine {
public:
    static constexpr unsigned queues = 16;
    struct counters {
        std::uint64_t bytes = 0, descriptors = 0, aborts = 0;
    };

    dma_engine(dma_group& group, unsigned number);

    /// The mover's rate from now on.
    void set_rate(std::uint64_t bytes_per_second) { mover_.set_rate(bytes_per_second); }

    // Register side. None of these moves data or calls memory.
    void doorbell(dma_side side, unsigned queue, std::uint32_t count,
                  const sc_core::sc_time& delay);
    void reset_queue(dma_side side, unsigned queue);
    void change_state(dma_side side, std::uint64_t written);
    /// START of the queue's descriptor generator.
    /// False: the command is refused.
    bool generate(unsigned queue, const sc_core::sc_time& delay);
    /// An enable bit of some queue changed.
    void enables_changed() { decide_due(); }
    /// Everything back to power-on; work in flight is dropped.
    void reset();
    /// Simulates a hardware failure: aborts running work.
    void abort(dma_side side, unsigned queue);
    /// The next descriptor that the queue fetches arrives with `bit` (0 to 127) inverted.
    void damage_next(dma_side side, unsigned number, std::uint8_t bit) {
        queue(number).damage_next(side, bit);
    }

    const dma_ring* ring(dma_side side, unsigned queue) const;
    bool queue_aborted(dma_side side, unsigned queue) const;
    bool aborted(dma_side side) const;
    bool busy(dma_side side) const;
    counters count() const { return {mover_.bytes(), mover_.descriptors(), aborts_}; }
    /// Descriptors that software has posted and that the engine will still work on.
    std::uint64_t owned() const;
    /// Description of an external wait; empty when it is idle or busy.
    std::optional<std::string> waits_for() const;

    // Process side.
    /// Executes due work; its turn has the time of the next step.
    void step(dma_activation& activation);
    /// Adds the events of memories that answer later.
    void add_wake_events(sc_core::sc_event_or_list& list) const;

private:
    dma_queue& queue(unsigned number);
    void drop(dma_queue& q);
    dma_turn& turn() { return context_.group.turns[place_]; }
    void decide_due();
    bool is_runnable(const dma_queue& q) const { return !is_stopped() && q.is_runnable(); }
    bool is_stopped() const;
    dma_queue* choose(const sc_core::sc_time& now) const;
    std::vector<dma_queue*>::const_iterator first_used(unsigned number) const;
    bool start_next(const sc_core::sc_time& now);
    void post_generated(dma_activation& activation);

    dma_engine_context context_;
    const std::size_t place_;  // of its turn
    std::array<std::unique_ptr<dma_queue>, queues> queues_;
    std::vector<dma_queue*> used_queues_;  // those of queues_ that exist, by number
    dma_mover mover_;
    dma_generator generator_;
    dma_queue* fetching_ = nullptr;         // memory has not answered its descriptor fetch
    unsigned next_queue_ = 0;               // first in choose()
    per_side<bool> disabled_{}, halted_{};  // by software
    std::uint64_t aborts_ = 0;
};

}  // namespace trn

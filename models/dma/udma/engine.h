// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <systemc>
#include <vector>

#include "models/dma/udma/generator/generator.h"
#include "models/dma/udma/movers/mover.h"
#include "models/dma/udma/queues/group.h"
#include "models/dma/udma/queues/queue.h"
#include "models/dma/udma/queues/ring.h"

namespace trn {

/// One DMA engine: 16 queues that share a data mover and a descriptor generator. It has no SystemC
/// process: the group calls step() when the engine is due. Spec: doc/models/dma/udma.md.
///
/// A queue is a pair of descriptor streams. Each side's descriptors are fetched in bursts; bytes of
/// the source stream are copied to the destination stream in order, split at descriptor ends of
/// both sides. Such a piece is a transfer: it starts when the mover is free, and its bytes move
/// when it completes. Queues are served round robin, one packet at a time.
class dma_engine {
public:
    static constexpr unsigned queues = 16;
    struct counters {
        std::uint64_t bytes = 0, descriptors = 0, aborts = 0;
    };

    dma_engine(dma_group& group, unsigned number);

    /// Sets the mover's rate for later transfers.
    void set_rate(std::uint64_t bytes_per_second) { mover_.set_rate(bytes_per_second); }

    // Register accesses. These do not move data or access memory.
    void doorbell(dma_side side, unsigned queue, std::uint32_t count,
                  const sc_core::sc_time& delay);
    void reset_queue(dma_side side, unsigned queue);
    void change_state(dma_side side, std::uint64_t written);
    /// START of the queue's descriptor generator. False: the command is refused.
    bool generate(unsigned queue, const sc_core::sc_time& delay);
    /// The enable bit of a queue has changed.
    void enables_changed() { decide_due(); }
    /// Resets to the power-on state; drops work in flight.
    void reset();
    /// Simulates a hardware failure, which stops the queue.
    void fail(unsigned number) { queue(number).fail(); }
    /// Fault: the next descriptor that the queue fetches has `bit` (0 to 127) inverted.
    void damage_next(dma_side side, unsigned number, std::uint8_t bit) {
        queue(number).damage_next(side, bit);
    }

    const dma_ring* ring(dma_side side, unsigned queue) const;
    unsigned number() const { return context_.number; }
    bool queue_aborted(dma_side side, unsigned queue) const;
    bool aborted(dma_side side) const;
    bool busy(dma_side side) const;
    std::uint64_t bytes_in_flight() const { return mover_.bytes_in_flight(); }
    counters count() const { return {mover_.bytes(), mover_.descriptors(), aborts_}; }
    /// Number of descriptors that software has posted and that are not complete.
    std::uint64_t owned() const;
    /// Description of the external event that the engine waits for; nullopt if idle or busy.
    std::optional<std::string> waits_for() const;

    // Called by the group's process.
    /// Executes due work; afterwards the engine's turn contains the time of the next step.
    void step(dma_activation& activation);

private:
    dma_queue& queue(unsigned number);
    void abort(dma_side side, unsigned queue);
    void drop(dma_queue& q);
    dma_turn& turn() { return context_.group.turns[place_]; }
    void set_abort_event(bool begun);
    void end_abort_event();
    void decide_due();
    bool is_runnable(const dma_queue& q) const { return !is_stopped() && q.is_runnable(); }
    bool is_stopped() const;
    dma_queue* choose(const sc_core::sc_time& now) const;
    std::vector<dma_queue*>::const_iterator first_used(unsigned number) const;
    bool start_next(const sc_core::sc_time& now);
    void post_generated(dma_activation& activation);

    dma_engine_context context_;
    const std::size_t place_;  // index of its turn in the group
    std::array<std::unique_ptr<dma_queue>, queues> queues_;
    std::vector<dma_queue*> used_queues_;  // the existing ones of queues_, by number
    dma_mover mover_;
    dma_generator generator_;
    dma_queue* fetching_ = nullptr;         // queue whose descriptor fetch memory has deferred
    unsigned next_queue_ = 0;               // checked first by choose()
    per_side<bool> disabled_{}, halted_{};  // by software
    std::uint64_t aborts_ = 0;
};

}  // namespace trn

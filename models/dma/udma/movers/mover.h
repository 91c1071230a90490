// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <systemc>
#include <vector>

#include "models/dma/udma/movers/compute_mover.h"
#include "models/dma/udma/movers/flight.h"
#include "models/dma/udma/queues/group.h"
#include "models/dma/udma/queues/transfer.h"
#include "platform/framework/tlm/bandwidth_resource.h"

namespace trn {

/// The data mover shared by the queues of an engine. A transfer reserves the mover and the path
/// from source to destination when it starts; its bytes move at the end of that time, and it
/// completes when they have arrived: at once, unless they are written through a socket with a
/// delay. Transfers move and complete in the order in which they started.
class dma_mover {
public:
    explicit dma_mover(dma_engine_context& engine);

    /// Sets the rate for later transfers.
    void set_rate(std::uint64_t bytes_per_second) { rate_.set_rate(bytes_per_second); }

    bool is_full() const {
        return flight_.size() >= times().outstanding ||
               bytes_in_flight_ >= times().outstanding_bytes;
    }
    /// Earliest start of the next transfer. Precondition: !is_full().
    const sc_core::sc_time& next_start() const { return next_start_; }
    void start(dma_transfer&& t, const sc_core::sc_time& now);
    /// Moves the bytes of all due transfers, until a memory defers an access, and completes those
    /// whose bytes have arrived.
    void complete_due(dma_activation& activation);
    /// Stops the queue's transfers from moving further bytes.
    void drop(const dma_queue& queue);

    /// When complete_due() has work; never() while it has none or memory has not answered.
    sc_core::sc_time due() const;
    bool waits_for_memory() const { return pending_.is_deferred(); }
    /// Description of the memory that a transfer of the queue waits for; nullopt if none.
    std::optional<std::string> waits_for(const dma_queue& queue) const;

    std::uint64_t bytes() const { return bytes_; }
    std::uint64_t bytes_in_flight() const { return bytes_in_flight_; }
    std::uint64_t descriptors() const { return descriptors_; }

private:
    const dma_group::timing& times() const { return engine_.group.times; }
    memory_port& memory() const { return engine_.group.memory; }
    sc_core::sc_time reserve(const dma_transfer& t, const sc_core::sc_time& now);
    std::uint64_t mover_bytes(const dma_operation& operation) const;
    void complete_arrived();
    dma_progress move(dma_transfer& t, dma_activation& activation);
    bool copy_directly(dma_transfer& t);
    dma_progress copy_burst(dma_transfer& t);
    void finish(dma_transfer& t);

    dma_engine_context& engine_;
    bandwidth_resource rate_;
    sc_core::sc_time next_start_;
    dma_flight flight_;
    std::uint64_t bytes_in_flight_ = 0;
    pending_access pending_;           // of the oldest transfer that has not moved
    std::vector<std::uint8_t> burst_;  // its data between read and write
    unsigned in_burst_ = 0;
    dma_compute_mover compute_;
    std::uint64_t bytes_ = 0, descriptors_ = 0;
};

}  // namespace trn

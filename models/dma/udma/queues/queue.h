// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <systemc>
#include <utility>
#include <vector>

#include "models/dma/udma/queues/group.h"
#include "models/dma/udma/queues/queue_initiator.h"
#include "models/dma/udma/queues/queue_settings.h"
#include "models/dma/udma/queues/ring.h"
#include "models/dma/udma/queues/transfer.h"
#include "platform/framework/kernel/started_work.h"
#include "platform/framework/kernel/trace.h"
#include "platform/framework/misuse/misuse.h"

namespace trn {

/// One queue of an engine: a pair of descriptor streams, divided into transfers. Fetches and checks
/// descriptors, and reports its errors. It is the initiator of the accesses made for it.
class dma_queue final : public dma_queue_initiator {
public:
    dma_queue(dma_engine_context& engine, unsigned number);

    unsigned number() const { return number_; }
    std::string describe() const override;  ///< "engine 128 queue 0"
    identity identify() const override;
    /// The current values of the queue's registers.
    const dma_queue_settings& settings() const {
        settings_.update(group().regs, number_, engine_.number);
        return settings_;
    }
    const dma_ring& ring(dma_side side) const { return sides_[side].ring; }
    bool is_aborted(dma_side side) const { return sides_[side].aborted; }
    bool is_aborted() const { return is_aborted(dma_side::m2s) || is_aborted(dma_side::s2m); }
    trace::operation operation() const { return operation_; }

    // Register accesses.
    /// Accepts `count` descriptors after a doorbell; false: the doorbell was refused.
    bool post(dma_side side, std::uint32_t count, const sc_core::sc_time& delay);
    /// Adopts the ring length from the register if no descriptors are pending.
    void adopt_length(dma_side side);
    void reset(dma_side side);
    void set_aborted(dma_side side, bool aborted) { sides_[side].aborted = aborted; }
    /// Stops both sides, after a failure of hardware.
    void fail();
    /// Drops work in flight; incomplete descriptors return to their rings. Both sides continue
    /// after the last byte of the completed transfers.
    void drop();
    /// Fault: the next descriptor that is fetched has `bit` (0 to 127) inverted; nullopt: none.
    void damage_next(dma_side side, std::optional<std::uint8_t> bit) {
        sides_[side].damaged_bit = bit;
    }

    // Scheduling.
    bool has_work() const {
        return sides_[dma_side::m2s].has_more() && sides_[dma_side::s2m].has_more();
    }
    bool is_runnable() const {
        return has_work() && !barrier_ && !is_aborted() && settings().is_enabled;
    }
    bool is_idle() const { return in_flight_ == 0; }
    const sc_core::sc_time& ready_at() const { return ready_at_; }
    /// Timeout of a started packet that lacks destination descriptors; nullopt if there is none.
    /// `stopped`: the engine starts no transfers.
    std::optional<sc_core::sc_time> update_starvation(bool stopped) {
        if (packet_.descriptors == 0 && !starved_since_) return std::nullopt;
        return note_starvation(stopped);
    }
    /// Reports such a packet if it has timed out.
    void expire_starvation() {
        if (starved_since_) end_starvation();
    }
    void hold_host(started_work::share started) { started_ = std::move(started); }
    void release_host() {
        if (started_) started_ = nullptr;
    }

    // Start of transfers. Precondition: is_runnable().
    /// Sets `next` to the next piece of both streams. False during a descriptor fetch, while a
    /// compute packet is collected, and after an error. Precondition: `next` is a new transfer.
    bool next_transfer(dma_transfer& next);
    /// Set while memory defers a fetch; then resume_fetch() must be called before anything else.
    std::optional<dma_side> fetching() const;
    dma_progress resume_fetch() { return fetch(fetch_request(*fetching_)); }
    void begin_transfer() {
        ++in_flight_;
        ++to_move_;
    }
    /// The bytes of the oldest such transfer have moved.
    void has_moved() { --to_move_; }
    /// Called when they have arrived; returns the number of m2s descriptors completed.
    std::uint32_t end_transfer(const dma_transfer& t);

    // Errors. True: the queue is aborted, either always or because software has not masked the
    // cause (contract 6.4).
    bool error(dma_side side, unsigned cause, const misuse::rule& rule, const std::string& detail,
               bool always_aborts = false);
    /// Reports a failed access, unless its target has reported the reason: `reports` is
    /// misuse::reports() before the access.
    void access_error(dma_side side, unsigned cause, const misuse::rule& rule,
                      const std::string& detail, std::uint64_t reports);
    void fetch_error(dma_side side, std::uint64_t ring_address, std::uint64_t reports);
    void data_error(dma_side side, std::uint64_t address, std::uint64_t reports);
    bool refused(const std::optional<dma_operation::refusal>& why);

private:
    struct stream {           // state of one side
        bool active = false;  // `current` is being processed
        bool aborted = false;
        std::optional<std::uint8_t> damaged_bit;  // of the next descriptor that is fetched
        bool damaged = false;    // a fault changed a descriptor: until a reset, or all work is done
        std::uint32_t left = 0;  // bytes of `current` not yet assigned to a transfer
        std::uint32_t done =
            0;  // bytes of the descriptor at the ring's head, by completed transfers
        std::uint32_t skip = 0;  // bytes of the next descriptor that are done already
        std::uint64_t address = 0;
        dma_descriptor current{};
        dma_ring ring;

        bool has_more() const { return active || !ring.starved(); }
        /// Assigns the next bytes to a transfer; returns their address.
        std::uint64_t take(std::uint32_t bytes) {
            left -= bytes;
            const std::uint64_t first = address;
            address += bytes;
            return first;
        }
        /// Begins with the ring's next descriptor.
        void begin(const dma_descriptor& d, std::uint32_t length, std::uint64_t first) {
            const std::uint32_t skipped = std::min(std::exchange(skip, 0), length);
            current = d;
            left = length - skipped;
            address = first + skipped;
            active = true;
        }
        void complete(std::uint32_t descriptors, std::uint32_t bytes, bool ends) {
            for (std::uint32_t n = 0; n < descriptors; ++n) ring.complete();
            done = ends ? 0 : done + bytes;
        }
        /// Returns to the state after the completed transfers.
        void rewind() {
            ring.rewind();
            active = false;
            skip = done;
        }
    };
    struct fetch_request {
        dma_side side;
        std::uint64_t address;
        std::uint32_t count;
    };

    dma_group& group() const { return engine_.group; }
    std::uint32_t length_of(dma_side side, const dma_descriptor& d) const;
    void note_operation(std::uint32_t count);
    trace::operation operation_of(std::uint32_t before_tail) const;
    dma_progress load(dma_side side);
    fetch_request next_fetch(dma_side side) const;
    dma_progress fetch(const fetch_request& wanted);
    bool accept_source(const dma_queue_settings& set);
    bool accept_destination();
    bool accept_compute(const dma_descriptor& d);
    bool next_piece(dma_transfer& next);
    void collect_source();
    bool collect_destination(dma_transfer& next);
    void take_compute_packet(dma_transfer& next);
    std::optional<sc_core::sc_time> note_starvation(bool stopped);
    void end_starvation();
    bool raise(dma_side side, unsigned cause, bool always_aborts);

    dma_engine_context& engine_;
    const unsigned number_;
    mutable dma_queue_settings settings_;
    per_side<stream> sides_;
    std::optional<fetch_request> fetching_;  // deferred by memory: repeated unchanged
    pending_access pending_fetch_;
    sc_core::sc_time ready_at_;  // end of an idle queue's start latency
    // Transfers that have begun and not ended; of these, with bytes to move.
    std::uint32_t in_flight_ = 0, to_move_ = 0;
    bool barrier_ = false;  // wait until no transfer is in flight
    // Time since a started packet lacks destinations.
    std::optional<sc_core::sc_time> starved_since_;
    started_work::share started_;  // work started by the host's latest doorbell

    dma_packet_progress packet_;                   // including the current source
    dma_packet_progress before_;                   // the same without the current source
    dma_packet_progress completed_;                // by completed transfers
    std::unique_ptr<dma_compute_packet> compute_;  // compute packet being collected
    std::uint32_t abandoned_ = 0;  // sources of compute packets that ended without their last bit

    // While tracing: operations of posted m2s descriptors, which are numbered since the start.
    struct posted {
        trace::operation operation;
        std::uint64_t first, end;
    };
    std::vector<posted> posted_;
    std::uint64_t posted_descriptors_ = 0;
    trace::operation operation_ = 0;  // of the current m2s descriptor
};

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <systemc>
#include <utility>
#include <vector>

#include "models/notification_queue/notification_queue.h"
#include "models/udma/generator_command.h"
#include "models/udma/operation.h"
#include "models/udma/ring.h"
#include "platform/framework/kernel/started_work.h"
#include "platform/framework/kernel/trace.h"
#include "platform/framework/misuse/misuse.h"
#include "platform/framework/registers/register_bank.h"
#include "platform/framework/tlm/bandwidth_resource.h"
#include "platform/framework/tlm/memory_port.h"

namespace trn {

enum class dma_side : std::uint8_t { m2s, s2m };  ///< reads memory, writes memory

/// One of each for both sides.
template <class T>
struct per_side : std::array<T, 2> {
    T& operator[](dma_side side) { return this->data()[static_cast<unsigned>(side)]; }
    const T& operator[](dma_side side) const { return this->data()[static_cast<unsigned>(side)]; }
};

/// What an engine waits for. The group looks at those of all its engines each time, so they stand
/// close together.
struct dma_turn {
    /// When step() has something to do; sc_max_time() while it has not.
    sc_core::sc_time due = sc_core::sc_max_time();
    bool waits_for_memory = false;
};

/// What the engines of a group share.
struct dma_group {
    struct timing {
        std::uint64_t bytes_per_second;
        sc_core::sc_time start_latency;        ///< doorbell of an idle queue to its first fetch
        sc_core::sc_time descriptor_overhead;  ///< of each descriptor, on top of its bytes
        sc_core::sc_time stream_timeout;       ///< of a packet that has begun and lacks destination
        sc_core::sc_time functional_step;      ///< what an activation takes in functional timing
        sc_core::sc_time generation_latency;   ///< of a descriptor generator's command
        unsigned outstanding;                  ///< transfers in flight per engine
        std::uint64_t outstanding_bytes;       ///< no more start while these are in flight
    };
    /// What computing costs, and what of it this generation can do.
    struct computing {
        unsigned permille;            ///< of the mover's rate, for casts and reductions
        unsigned transpose_permille;  ///< the same, for transposes
        /// Accumulation is done beside the memory: the old bytes do not pass through the mover.
        bool accumulates_near_memory;
        dma_operation::abilities can;
    };
    timing times;
    const computing compute;
    const unsigned first_engine;  ///< number of the group's engine 0 in the chip
    const sc_core::sc_object& owner;
    register_bank& regs;
    register_bank& generator_regs;
    notification_queue& notifications;
    memory_port& memory;
    /// An engine's abort state may have changed.
    std::function<void()> aborts_changed;
    std::vector<dma_turn> turns = {};  ///< each engine's, in the order in which they were made
};

/// Work that one activation of the group may still do; what is left waits for the next one, so that
/// a simulation slice stays short whatever software posts.
struct dma_budget {
    std::uint64_t bytes;
    unsigned transfers;
    bool spent() const { return bytes == 0 || transfers == 0; }
};

/// One DMA engine: 16 queues that share a data mover. It has no process: the group calls step()
/// when the engine is due. Spec: doc/models/udma.md.
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
    void generate(unsigned queue, const sc_core::sc_time& delay);
    /// An enable bit of some queue changed.
    void enables_changed() { decide_due(); }
    /// Everything back to power-on; work in flight is dropped.
    void reset();
    /// As if the hardware had failed: aborts what runs.
    void abort(dma_side side, unsigned queue);
    /// The next descriptor that the queue fetches arrives with `bit` (0 to 127) inverted.
    void damage_next(dma_side side, unsigned queue, std::uint8_t bit);

    const dma_ring* ring(dma_side side, unsigned queue) const;
    bool queue_aborted(dma_side side, unsigned queue) const;
    bool aborted(dma_side side) const;
    bool busy(dma_side side) const;
    const counters& count() const { return count_; }
    /// Descriptors that software has given to it and that it will still work on.
    std::uint64_t owned() const;
    /// What it waits for besides time, in words; nothing when it is idle or busy.
    std::optional<std::string> waits_for() const;

    // Process side.
    /// Works on what is due; its turn says when again.
    void step(dma_budget& budget);
    /// What else may wake it: a memory that answers later.
    void add_wake_events(sc_core::sc_event_or_list& list) const;

private:
    struct stream {           // one side of a queue
        bool active = false;  // `current` is being worked on
        bool aborted = false;
        std::optional<std::uint8_t> damaged_bit;  // of the next descriptor that is fetched: a fault
        std::uint32_t left = 0;                   // bytes of current not yet given to a transfer
        std::uint64_t address = 0;
        dma_descriptor current{};
        dma_ring ring;
    };
    struct compute_packet {
        explicit compute_packet(const dma_descriptor& d) : operation(d) {}
        dma_operation operation;
        std::uint32_t m2s = 0, s2m = 0;  // descriptors of it so far
        bool interrupt = false, barrier = false;
        bool has_all_sources = false;
        // while its bytes move
        bool begun = false, written = false;
        std::size_t access = 0;   // of operation.accesses()
        std::uint32_t moved = 0;  // bytes of that
        sc_core::sc_time delay;   // of what went through sockets
    };
    /// What the queue's registers say, and those of the engine, as far as every descriptor asks.
    struct queue_settings {
        std::uint64_t as_of = 0;  // register_bank::changes(); 0: never read
        bool enabled = false, barriers_count = false, length_0_is_64k = false;
        per_side<std::uint32_t> ring_length{};
        per_side<std::uint64_t> ring_base{}, address_mask{};
        std::uint32_t most_packet_bytes = 0;
        std::uint32_t most_descriptors = 0;         // of a packet that computes
        std::uint32_t most_packet_descriptors = 0;  // of any packet
    };
    struct queue_pair {
        queue_settings settings;
        sc_core::sc_time ready_at;  // start latency of an idle queue
        std::uint32_t packet_bytes = 0;
        std::uint32_t packet_descriptors = 0;  // 0: between packets
        std::uint32_t in_flight = 0;
        started_work::share started;                    // by the host's latest doorbell
        bool barrier = false;                           // wait until nothing is in flight
        std::optional<sc_core::sc_time> starved_since;  // a begun packet lacks destination
        std::unique_ptr<compute_packet> compute;        // the packet being collected is one
        per_side<stream> sides;
        // While tracing: whose the m2s descriptors are that were posted, and the current one.
        std::vector<std::pair<trace::operation, std::uint32_t>> posted;
        trace::operation operation = 0;

        stream& operator[](dma_side s) { return sides[s]; }
        const stream& operator[](dma_side s) const { return sides[s]; }
    };
    struct transfer {
        std::uint64_t source, destination;
        std::uint32_t length, moved;
        sc_core::sc_time completes_at;
        std::uint8_t queue;
        bool ends_source, ends_destination;  // completes the descriptor of that side
        bool interrupt;
        bool dropped;                                       // its queue was reset or aborted
        std::unique_ptr<compute_packet> compute = nullptr;  // of plain copies: none
        trace::slice slice = {};
    };
    struct fetch_request {
        unsigned queue;
        dma_side side;
        std::uint64_t address;
        std::uint32_t count;
    };
    struct generation {  // a command of the descriptor generator that is being carried out
        generator_command what;
        unsigned queue;
        sc_core::sc_time ready_at;
        std::array<dma_ring::position, 2> at = {};  // tails at its begin, per side
        bool begun = false, dropped = false;
        unsigned side = 0;
        std::uint32_t written = 0;  // descriptors of that side
        trace::operation of = 0;
        started_work::share started = {};
    };
    enum class progress { done, blocked, failed };
    /// Whose accesses to memory these are, for whoever they go wrong with.
    struct queue_mover final : initiator {
        queue_mover(const dma_engine& e, unsigned q) : initiator(kind::dma), engine(e), queue(q) {}
        std::string describe() const override { return engine.name(queue); }
        const dma_engine& engine;
        const unsigned queue;
    };

    queue_pair& queue(unsigned number);
    const queue_settings& settings(unsigned number) const;
    void read_settings(queue_settings& into, unsigned number) const;
    std::string name(unsigned number) const;
    void adopt_length(dma_ring& ring, unsigned number, std::uint32_t length);
    void drop(unsigned number);
    const std::string& row();

    // scheduling
    dma_turn& turn() { return group_.turns[place_]; }
    void decide_due();
    void wake_at(const sc_core::sc_time& when);
    bool has_work(const queue_pair& q) const;
    bool runnable(const queue_pair& q, unsigned number) const;
    void release_host(queue_pair& q, unsigned number);
    queue_pair* choose(unsigned& number);
    void note_starvation(queue_pair& q);
    void expire_starvation(queue_pair& q);

    // starting
    progress start_next();
    progress load(queue_pair& q, unsigned number, dma_side side);
    fetch_request next_fetch(unsigned number, dma_side side) const;
    progress fetch(const fetch_request& wanted);
    bool accept_source(queue_pair& q, unsigned number);
    bool accept_destination(queue_pair& q, unsigned number);
    void launch(queue_pair& q, unsigned number);
    void start(transfer t);
    bool accept_compute(queue_pair& q, unsigned number, const dma_descriptor& d);
    progress collect(queue_pair& q, unsigned number);
    progress collect_sources(queue_pair& q, unsigned number);
    void launch_compute(queue_pair& q, unsigned number);
    bool refused(unsigned number, const std::optional<dma_operation::refusal>& why);
    bool full() const {
        return flight_.size() >= group_.times.outstanding ||
               bytes_in_flight_ >= group_.times.outstanding_bytes;
    }
    sc_core::sc_time reserve(const transfer& t);
    std::uint64_t mover_bytes(const dma_operation& operation) const;

    // generating descriptors
    void generate_due(dma_budget& budget);
    bool begin_generation(generation& g);
    progress write_generated(generation& g);
    std::uint64_t generator_status(unsigned number) const;
    void end_generation(const generation& g, std::uint64_t status);

    // completing
    void complete_due(dma_budget& budget);
    progress move(transfer& t, dma_budget& budget);
    const memory_port::window* window(tlm::tlm_command command, std::uint64_t address,
                                      std::uint64_t length);
    bool move_directly(transfer& t);
    progress move_burst(transfer& t);
    bool reduce_in_place(const dma_operation& operation);
    progress move_compute(transfer& t);
    progress move_accesses(transfer& t);
    progress move_access(transfer& t, const dma_operation::access& access);
    void finish(transfer& t);

    bool error(dma_side side, unsigned number, unsigned cause, const misuse::rule& rule,
               const std::string& detail, bool always_aborts = false);
    bool raise(dma_side side, unsigned number, unsigned cause, bool always_aborts);
    bool access_error(dma_side side, unsigned number, unsigned cause, const misuse::rule& rule,
                      const std::string& detail, std::uint64_t reports);

    dma_group& group_;
    const unsigned number_;
    const std::size_t place_;  // of its turn
    bandwidth_resource mover_;
    sc_core::sc_time next_start_;
    std::array<std::unique_ptr<queue_pair>, queues> queues_;
    std::uint64_t bytes_in_flight_ = 0;
    std::deque<transfer> flight_;
    unsigned next_queue_ = 0;                    // who is asked first
    std::array<bool, 2> disabled_{}, halted_{};  // by software, per side

    std::vector<std::uint8_t> burst_;  // one burst between read and write, of the front transfer
    unsigned in_burst_ = 0;
    std::vector<std::uint8_t> operands_;  // of the front transfer, when it computes
    std::deque<generation> generations_;
    deferral move_later_, fetch_later_, generate_later_;
    std::optional<fetch_request> fetching_;  // asked, not answered: asked again unchanged
    counters count_;
    std::string row_;  // in the trace, once there is something
};

}  // namespace trn

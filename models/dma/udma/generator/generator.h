// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <systemc>

#include "models/dma/udma/generator/generator_command.h"
#include "models/dma/udma/queues/group.h"
#include "models/dma/udma/queues/ring.h"
#include "platform/framework/kernel/started_work.h"
#include "platform/framework/kernel/trace.h"

namespace trn {

class dma_queue;

/// The descriptor generator of an engine: executes its commands one at a time, highest priority
/// first, by writing descriptors to the rings of their queues. Spec: doc/dma_compute.md.
class dma_generator {
public:
    /// A command whose descriptors have been written and can be posted.
    struct written {
        dma_queue& queue;
        per_side<std::uint32_t> descriptors;
        trace::operation operation;
        started_work::share started;
    };

    explicit dma_generator(dma_engine_context& engine)
        : engine_(engine), pending_(engine.group.responded) {}

    /// START: queues the command in the queue's registers; false: refused, and reported.
    bool start(dma_queue& queue, const sc_core::sc_time& delay);
    /// Executes due work, at most until a command is complete.
    std::optional<written> step(dma_activation& activation);
    /// Stops commands of the queue from writing further descriptors.
    void drop(const dma_queue& queue);
    void release_hosts();

    bool is_idle() const { return commands_.empty(); }
    /// When step() has work; never() while it has none, memory has not answered or a ring has
    /// no room for the next command.
    sc_core::sc_time due() const;
    bool waits_for_memory() const { return pending_.is_deferred(); }
    /// Whether the next command waits for its queue to complete earlier descriptors.
    bool lacks_room() const;
    /// Description of what it waits for: memory or room in a ring; nullopt if neither.
    std::optional<std::string> waits_for() const;

private:
    struct command {
        dma_queue* queue;
        generator_command request;
        sc_core::sc_time arrived_at, ready_at = {};
        trace::operation operation;
        started_work::share started;
        per_side<dma_ring::position> tail = {};  // tail indices when the command began
        bool begun = false, dropped = false;
        unsigned side = 0;
        std::uint32_t written = 0;  // descriptors of that side written so far
    };
    static const char* reason_to_refuse(const generator_command& command, dma_queue& queue);
    bool refuse(const dma_queue& queue, std::string_view why);
    void insert(command added);
    bool is_busy(const dma_queue& queue) const;
    void show_status(const dma_queue& queue, std::uint64_t status);
    bool begin(command& c);
    dma_progress write(command& c);
    dma_progress write_side(command& c, dma_side side);

    dma_engine_context& engine_;
    // A command dropped by a reset stays in the list until its turn: an access made for it may be
    // the one that caused the reset. A list: such an access may also insert a command.
    std::list<command> commands_;
    pending_access pending_;
};

}  // namespace trn

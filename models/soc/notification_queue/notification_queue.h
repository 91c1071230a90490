// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <systemc>
#include <tlm>
#include <utility>

#include "platform/framework/kernel/trace.h"
#include "platform/framework/registers/register_bank.h"
#include "platform/framework/tlm/memory_port.h"
#include "platform/framework/tlm/pending_access.h"

namespace trn {

/// One entry of a ring in memory. The format is invented: the driver defines none.
struct notification {
    enum class kind : std::uint8_t { trace, notify, event, error, dma_trace, throttle };

    kind type{};
    std::uint8_t source = 0;    ///< engine or queue in the block
    std::uint32_t payload = 0;  ///< depends on the kind
};

/// The 16 notification rings of a block, or of several equal blocks at a stride: registers, and a
/// writer of entries. Part of the block that owns it: the owner forwards accesses to registers()
/// and calls deliver(). Spec: doc/models/soc/notification_queue.md.
class notification_queue {
public:
    static constexpr unsigned slots = 16;
    static constexpr std::uint64_t aperture_size = 0x1000;
    static constexpr unsigned entry_bytes = 16;
    /// From POST to delivery.
    static sc_core::sc_time post_latency() { return {100, sc_core::SC_NS}; }

    /// `owner` is named in messages; `wake`: event of its process, which calls deliver();
    /// `latency`: of a register access.
    notification_queue(const sc_core::sc_object& owner, sc_core::sc_event& wake,
                       const sc_core::sc_time& latency, unsigned instances = 1,
                       std::uint64_t stride = 0);

    register_bank& registers() { return regs_; }

    /// Queues an entry for `slot`; returns false when the slot is disabled. The owner's next
    /// deliver() writes it to memory. Entries of a ring beyond the capacity are dropped and counted
    /// while its memory does not respond.
    bool post(unsigned slot, const notification& entry, unsigned instance = 0);
    /// Sets a function to call when software posts an entry by a register. The owner must deliver
    /// later in simulated time, because a ring may be in registers that post again.
    void on_posted(std::function<void()> posted) { posted_ = std::move(posted); }
    bool has_undelivered() const { return !rings_.empty(); }
    /// Writes queued entries; rings whose memory defers one keep theirs.
    void deliver(memory_port& memory);
    /// Disables all slots and drops queued entries.
    void reset();
    void reset(unsigned instance);

private:
    struct undelivered {
        notification entry;
        std::uint64_t time_ns;
        trace::operation operation;
    };
    /// A ring with entries that are not in memory yet.
    struct ring {
        explicit ring(sc_core::sc_event& wake) : pending(wake) {}
        std::deque<undelivered> waiting;
        pending_access pending;
        bool is_restarted = false;  // since the latest attempt to write an entry
    };

    static unsigned key(unsigned slot, unsigned instance) { return instance * slots + slot; }
    void restart(register_access& a);
    void post_by_register(register_access& a);
    void drop(unsigned instance, unsigned slot);
    bool deliver(ring& slot_ring, unsigned slot, unsigned instance, memory_port& memory);
    void advance_head(unsigned slot, unsigned instance);

    const sc_core::sc_object& owner_;
    sc_core::sc_event& wake_;
    register_bank regs_;
    std::map<unsigned, ring> rings_;  // by key(); only deliver() removes rings
    bool delivering_ = false;
    std::function<void()> posted_;
};

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <systemc>
#include <utility>
#include <vector>

namespace trn {

/// Activates processors at the ends of their quanta. In a rack, thousands of quanta end at the same
/// time: one kernel event for all of them costs a fraction of one for each. Processors whose quanta
/// end at the same time are activated in the order of their construction, not of their scheduling.
/// The event and the process exist from the first schedule() on.
///
/// A seed other than 0 varies the schedule, so that tests of software find more interleavings:
/// processors of one time are activated in random order, and quanta have random lengths. Both
/// depend on the seed, the time and the processor only.
///
/// When a debugger halts a processor within its quantum, the others get no turn before it has
/// completed the quantum, so that debugging does not change the schedule; except that the debugger
/// continues others alone.
class quantum_queue {
public:
    static constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

    /// A processor.
    class client {
    public:
        client(const client&) = delete;
        client& operator=(const client&) = delete;

    protected:
        explicit client(std::shared_ptr<quantum_queue> queue)
            : queue_(std::move(queue)), number_(queue_->clients_++) {}
        virtual ~client() {
            queue_->cancel(*this);
            queue_->release(*this);
        }
        quantum_queue& quanta() { return *queue_; }
        const quantum_queue& quanta() const { return *queue_; }

    private:
        friend quantum_queue;
        virtual void quantum_ended() = 0;
        /// After hold(): whether it executes the rest of its quantum now.
        virtual bool continues() const { return false; }

        const std::shared_ptr<quantum_queue> queue_;
        const std::uint64_t number_;  // in the order of construction
        std::uint64_t due_ = never;
    };

    explicit quantum_queue(std::uint64_t seed = 0) : seed_(seed) {}
    quantum_queue(const quantum_queue&) = delete;  // the process has its address
    quantum_queue& operator=(const quantum_queue&) = delete;

    /// Activates `processor` at simulated time `time` (ps), which is in the future. Precondition:
    /// `processor` is not scheduled.
    void schedule(client& processor, std::uint64_t time);
    /// Withdraws the activation of `processor`, if one is scheduled.
    void cancel(client& processor);
    bool varies() const { return seed_ != 0; }
    /// Instructions of the quantum of `processor` that begins now: `max`, or if the schedule
    /// varies, 1 up to a power of two, which is random and the same for all processors for a
    /// microsecond.
    std::uint64_t length(const client& processor, std::uint64_t max) const;

    /// A debugger has halted `processor` within its quantum.
    void hold(client& processor);
    bool is_held_by(const client& processor) const { return holder_ == &processor; }
    /// `processor` has completed its quantum, or cannot.
    void release(client& processor) {
        if (holder_ == &processor) end_hold();
    }
    /// Whether `processor` must wait because another processor is within its quantum: it is
    /// activated afterwards.
    bool defers(client& processor) {
        return holder_ != nullptr && holder_ != &processor && defer(processor);
    }
    /// Time until the next activation (ps): 0 while others wait for their turn, `never` without
    /// one.
    std::uint64_t until_next() const;

private:
    using group = std::vector<client*>;

    void activate();
    bool activate_all(group& waiting);
    void notify();
    sc_core::sc_event& event();
    void end_hold();
    bool defer(client& processor);
    bool is_held();
    std::uint64_t chance(const client& processor) const;

    const std::uint64_t seed_;
    std::uint64_t clients_ = 0;
    std::map<std::uint64_t, group> groups_;   // by time
    std::unique_ptr<sc_core::sc_event> due_;  // of the earliest group
    client* holder_ = nullptr;
    std::uint64_t held_in_ = 0;  // delta cycle: the simulation pauses at its end
    group deferred_;             // the first is activated last
};

}  // namespace trn

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
        virtual ~client() { queue_->cancel(*this); }
        quantum_queue& quanta() { return *queue_; }
        const quantum_queue& quanta() const { return *queue_; }

    private:
        friend quantum_queue;
        virtual void quantum_ended() = 0;

        const std::shared_ptr<quantum_queue> queue_;
        const std::uint64_t number_;  // in the order of construction
        std::uint64_t due_ = never;
    };

    quantum_queue() = default;
    quantum_queue(const quantum_queue&) = delete;  // the process has its address
    quantum_queue& operator=(const quantum_queue&) = delete;

    /// Activates `of` at simulated time `at` (ps), which is in the future. Precondition: `of` is
    /// not scheduled.
    void schedule(client& of, std::uint64_t at);
    /// Withdraws the activation of `of`, if one is scheduled.
    void cancel(client& of);
    /// Time until the next activation (ps): 0 while others wait for their turn, `never` without
    /// one.
    std::uint64_t until_next() const;

private:
    using group = std::vector<client*>;

    void activate();
    void notify();

    std::uint64_t clients_ = 0;
    std::map<std::uint64_t, group> groups_;   // by time
    std::unique_ptr<sc_core::sc_event> due_;  // of the earliest group
};

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <systemc>
#include <utility>
#include <vector>

#include "models/cards/efa/objects/objects.h"
#include "models/cards/efa/transport/completions.h"
#include "models/cards/efa/transport/fast_registration.h"
#include "models/cards/efa/transport/send_request.h"
#include "platform/framework/kernel/trace.h"
#include "platform/framework/tlm/memory_port.h"

namespace trn::efa_transport {

/// What a step of a process has reached.
enum class progress { idle, moved, blocked };

/// The send queues of a card: fetches their work requests, and completes them in the order in which
/// they end. A sender of packets takes the requests to other cards.
class send_queues {
public:
    struct counts {
        std::uint64_t completed = 0, failed = 0;
    };
    struct sender {
        /// A request to another card was fetched.
        std::function<void(send_request&)> begin;
        /// A request is about to be removed.
        std::function<void(send_request&)> end;
    };

    /// `name`: of the module, in traces. `rings`: BAR2. `wake` wakes the process that calls
    /// fetch().
    send_queues(std::string name, const send_limits& permitted, std::span<const std::uint8_t> rings,
                efa_objects::objects& objects, memory_port& memory, completions& posted,
                sc_core::sc_event& wake, sender packets);

    /// Doorbell write of a send queue.
    void posted(std::uint32_t handle, std::uint16_t count);
    /// Fetches one work request.
    progress fetch();
    /// Ends the requests of a queue pair. Without `flushes`, they are discarded without completions
    /// (EFA contract 16). Returns false if it has no send queue.
    bool stop(std::uint32_t handle, bool flushes);
    /// Drops all requests and queues.
    void forget();

    /// The request of a message; null if it has ended.
    send_request* find(std::uint64_t message);
    template <class Visit>
    void for_each(const Visit& visit) {
        for (auto& [message, request] : requests_) visit(request);
    }
    /// Ends a request, also a datagram or a failed request.
    void complete(std::uint64_t message, status result, const sc_core::sc_time& time);
    /// Completes the requests of which fails(request), now.
    template <class Fails>
    void complete_if(const Fails& fails, status result);

    const counts& counters() const { return counters_; }

private:
    /// The send queue of a queue pair.
    struct send_queue {
        std::set<std::uint64_t> messages;  // fetched, but not ended
        std::deque<std::pair<trace::operation, unsigned>> posted;
    };

    void fetch_one(std::uint32_t handle, efa_objects::queue_pair& qp, send_queue& queue,
                   const work_request& source);
    void remove(std::uint64_t message);
    void count(const send_request& request, status result);

    const std::string name_;
    const send_limits permitted_;
    const std::span<const std::uint8_t> rings_;
    efa_objects::objects& objects_;
    completions& completions_;
    sc_core::sc_event& wake_;
    const sender sender_;
    fast_registration registration_;
    std::uint64_t next_message_ = 1;
    std::map<std::uint64_t, send_request> requests_;  // by message
    std::map<std::uint32_t, send_queue> queues_;      // by handle, from the first doorbell on
    counts counters_;
};

template <class Fails>
void send_queues::complete_if(const Fails& fails, status result) {
    std::vector<std::uint64_t> ended;
    for (const auto& [message, request] : requests_)
        if (fails(request)) ended.push_back(message);
    for (const std::uint64_t message : ended) complete(message, result, sc_core::sc_time_stamp());
}

}  // namespace trn::efa_transport

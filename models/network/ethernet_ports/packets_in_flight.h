// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <queue>
#include <systemc>
#include <utility>

namespace trn {

/// Packets in transit, ordered by arrival time and, at equal times, by the order of sending.
template <typename Packet>
class packets_in_flight {
public:
    /// Notified when take() has packets to deliver.
    const sc_core::sc_event& due() const { return due_; }

    /// `time`: absolute arrival time, not in the past.
    void add(const sc_core::sc_time& time, Packet packet) {
        in_flight_.push({time, ++sent_, std::move(packet)});
        due_.notify(in_flight_.top().time - sc_core::sc_time_stamp());
    }
    /// Calls deliver(Packet) for each packet that has arrived.
    template <typename Deliver>
    void take(const Deliver& deliver) {
        const sc_core::sc_time now = sc_core::sc_time_stamp();
        while (!in_flight_.empty() && in_flight_.top().time <= now) {
            Packet arrived = std::move(in_flight_.top().packet);
            in_flight_.pop();
            deliver(std::move(arrived));
        }
        if (!in_flight_.empty()) due_.notify(in_flight_.top().time - now);
    }

private:
    struct item {
        sc_core::sc_time time;
        std::uint64_t number;                      // order of sending
        mutable Packet packet;                     // mutable: moved out of the queue's top
        bool operator<(const item& other) const {  // the earliest arrival is on top
            return time != other.time ? time > other.time : number > other.number;
        }
    };

    std::priority_queue<item> in_flight_;
    sc_core::sc_event due_;
    std::uint64_t sent_ = 0;
};

}  // namespace trn

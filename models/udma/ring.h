// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "models/udma/descriptor.h"

namespace trn {

/// One direction of a queue: the position in its ring and the descriptors already fetched. Indices
/// count modulo the ring's length; each pass has its ring id, the first after a reset 1.
class dma_ring {
public:
    /// An index together with the pass it belongs to.
    struct position {
        std::uint32_t index = 0;
        std::uint8_t pass = 1;

        void advance(std::uint32_t by, std::uint32_t length);
        /// As the head and tail registers show it.
        std::uint32_t value() const { return index | std::uint32_t{pass} << 30; }
    };
    static constexpr std::uint32_t burst = 8;  // descriptors per fetch

    /// Descriptors of the ring. Taken over only while nothing is pending; indices stay inside.
    void resize(std::uint32_t length);
    std::uint32_t length() const { return length_; }
    void post(std::uint32_t count);
    void reset() { *this = dma_ring(); }
    /// Drops fetched descriptors that are not completed: they are fetched again.
    void rewind();

    /// Posted and not completed.
    std::uint32_t pending() const { return pending_; }
    /// How many more can be posted.
    std::uint32_t room() const { return length_ - pending_; }
    bool starved() const { return fetched_ == 0 && to_fetch_ == 0; }
    bool fetched() const { return fetched_ > 0; }

    /// How many descriptors the next fetch brings, from index fetch_at().
    std::uint32_t next_burst() const;
    std::uint32_t fetch_at() const { return fetch_.index; }
    /// Where the next fetch puts them.
    dma_descriptor* buffer() { return fifo_.data(); }
    void took_burst(std::uint32_t count);

    /// The next fetched descriptor and the pass it must carry.
    const dma_descriptor& front() const { return fifo_[next_]; }
    unsigned front_pass() const { return front_.pass; }
    void pop();
    void complete();

    const position& head() const { return head_; }
    const position& tail() const { return tail_; }
    const position& fetch() const { return fetch_; }

private:
    std::uint32_t length_ = 0;
    position head_;   // next to complete
    position front_;  // next to start
    position fetch_;  // next to fetch
    position tail_;
    std::uint32_t pending_ = 0;   // head to tail
    std::uint32_t to_fetch_ = 0;  // fetch to tail
    std::uint32_t fetched_ = 0;   // front to fetch
    std::uint32_t next_ = 0;      // index of front in the fifo
    std::array<dma_descriptor, burst> fifo_{};
};

}  // namespace trn

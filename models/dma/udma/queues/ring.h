// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "models/dma/udma/descriptors/descriptor.h"

namespace trn {

/// One side of a queue: its position in the ring, and the descriptors already fetched. Indices
/// count modulo the ring's length; each pass has a ring id, starting with 1 after a reset.
class dma_ring {
public:
    /// An index and the pass to which it belongs.
    struct position {
        std::uint32_t index = 0;
        std::uint8_t pass = 1;

        void advance(std::uint32_t count, std::uint32_t length);
        /// Value in the head and tail registers.
        std::uint32_t value() const { return index | std::uint32_t{pass} << 30; }
    };
    static constexpr std::uint32_t burst = 8;  // descriptors per fetch

    /// Sets the ring length in descriptors and reduces indices to it. Ignored while descriptors are
    /// pending.
    void resize(std::uint32_t length);
    std::uint32_t length() const { return length_; }
    void post(std::uint32_t count);
    void reset() { *this = dma_ring(); }
    /// Drops fetched descriptors that are not complete, so that they are fetched again.
    void rewind();

    /// Number of descriptors posted and not complete.
    std::uint32_t pending() const { return pending_; }
    /// Number of descriptors that may still be posted.
    std::uint32_t room() const { return length_ - pending_; }
    /// Number of descriptors posted and not started, and of those not fetched.
    std::uint32_t unstarted() const { return fetched_ + to_fetch_; }
    std::uint32_t unfetched() const { return to_fetch_; }
    bool starved() const { return unstarted() == 0; }
    bool fetched() const { return fetched_ > 0; }

    /// Number of descriptors of the next fetch, starting at index fetch_at().
    std::uint32_t next_burst() const;
    std::uint32_t fetch_at() const { return fetch_.index; }
    /// Destination of the next fetch.
    dma_descriptor* buffer() { return fifo_.data(); }
    void took_burst(std::uint32_t count);

    /// The next fetched descriptor, and the ring id it must have.
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
    std::uint32_t pending_ = 0;   // from head to tail
    std::uint32_t to_fetch_ = 0;  // from fetch to tail
    std::uint32_t fetched_ = 0;   // from front to fetch
    std::uint32_t next_ = 0;      // FIFO index of front
    std::array<dma_descriptor, burst> fifo_{};
};

}  // namespace trn

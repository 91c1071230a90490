// SPDX-License-Identifier: Apache-2.0
#include "models/dma/udma/queues/ring.h"

#include <algorithm>

namespace trn {

void dma_ring::position::advance(std::uint32_t count, std::uint32_t length) {
    const std::uint64_t sum = std::uint64_t{index} + count;
    if (sum < length) {  // the usual case, without divisions
        index = static_cast<std::uint32_t>(sum);
        return;
    }
    index = static_cast<std::uint32_t>(sum % length);
    pass = static_cast<std::uint8_t>((pass + sum / length) & 3);
}

void dma_ring::resize(std::uint32_t length) {
    if (pending_ > 0 || length == length_) return;
    length_ = length;
    if (length == 0) return;
    for (position* each : {&head_, &front_, &fetch_, &tail_}) each->index %= length;
}

void dma_ring::post(std::uint32_t count) {
    tail_.advance(count, length_);
    pending_ += count;
    to_fetch_ += count;
}

void dma_ring::rewind() {
    fetch_ = front_ = head_;
    to_fetch_ = pending_;
    fetched_ = next_ = 0;
}

std::uint32_t dma_ring::next_burst() const {
    // Fetches up to the next multiple of the burst size, so that a fetch is one aligned AXI burst
    // within the ring.
    const std::uint32_t aligned = burst - fetch_.index % burst;
    return std::min({aligned, to_fetch_, length_ - fetch_.index});
}

void dma_ring::took_burst(std::uint32_t count) {
    fetch_.advance(count, length_);
    to_fetch_ -= count;
    fetched_ = count;
    next_ = 0;
}

void dma_ring::pop() {
    ++next_;
    --fetched_;
    front_.advance(1, length_);
}

void dma_ring::complete() {
    head_.advance(1, length_);
    --pending_;
}

}  // namespace trn

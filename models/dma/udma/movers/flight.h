// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "models/dma/udma/queues/transfer.h"

namespace trn {

/// Transfers of an engine between start and completion, oldest first. Bytes move in this order, and
/// arrive later. Memory is reused, and grows only to the engine's maximum, because the bytes copied
/// displace it from the host's caches.
class dma_flight {
public:
    bool empty() const { return first_ == all_.size(); }
    std::size_t size() const { return all_.size() - first_; }
    dma_transfer& front() { return all_[first_]; }
    const dma_transfer& front() const { return all_[first_]; }
    const dma_transfer& back() const { return all_.back(); }
    /// Whether the bytes of the oldest transfer have moved.
    bool front_has_moved() const { return first_ < to_move_; }
    /// The oldest transfer whose bytes have not moved; nullptr if there is none.
    dma_transfer* to_move() { return to_move_ < all_.size() ? &all_[to_move_] : nullptr; }
    const dma_transfer* to_move() const {
        return to_move_ < all_.size() ? &all_[to_move_] : nullptr;
    }
    void has_moved() { ++to_move_; }
    std::span<dma_transfer> moved() { return std::span(all_).subspan(first_, to_move_ - first_); }
    std::span<dma_transfer> all() { return std::span(all_).subspan(first_); }

    /// Invalidates references to transfers, as does pop_front().
    void push_back(dma_transfer&& t) {
        if (all_.size() == all_.capacity() && first_ >= size()) forget_completed();
        all_.push_back(std::move(t));
    }
    /// Precondition: front_has_moved().
    void pop_front() {
        if (++first_ == all_.size()) forget_completed();
    }

private:
    void forget_completed() {
        all_.erase(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(first_));
        to_move_ -= first_;
        first_ = 0;
    }

    std::vector<dma_transfer> all_;
    std::size_t first_ = 0;    // index of the oldest; earlier ones have completed
    std::size_t to_move_ = 0;  // index of the oldest that has not moved
};

}  // namespace trn

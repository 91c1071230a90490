// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "models/dma/udma/queues/transfer.h"

namespace trn {

/// Transfers of an engine between start and completion, oldest first. Memory is reused, and grows
/// only to the engine's maximum, because the bytes copied displace it from the host's caches.
class dma_flight {
public:
    bool empty() const { return first_ == all_.size(); }
    std::size_t size() const { return all_.size() - first_; }
    dma_transfer& front() { return all_[first_]; }
    const dma_transfer& front() const { return all_[first_]; }
    const dma_transfer& back() const { return all_.back(); }
    std::span<dma_transfer> all() { return std::span(all_).subspan(first_); }

    /// Invalidates references to transfers, as does pop_front().
    void push_back(dma_transfer&& t) {
        if (all_.size() == all_.capacity() && first_ >= size()) forget_completed();
        all_.push_back(std::move(t));
    }
    void pop_front() {
        if (++first_ == all_.size()) forget_completed();
    }

private:
    void forget_completed() {
        all_.erase(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(first_));
        first_ = 0;
    }

    std::vector<dma_transfer> all_;
    std::size_t first_ = 0;  // index of the oldest; earlier ones have completed
};

}  // namespace trn

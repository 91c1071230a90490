// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace trn {

/// A ring of equal entries in memory that a card writes. Computes the place of the next entry, and
/// its phase bit, which is 1 in the first pass over the ring and toggles with each pass.
class host_ring {
public:
    struct slot {
        std::uint64_t address;
        bool phase;
    };

    host_ring() = default;
    /// Precondition: `depth` is not 0.
    host_ring(std::uint64_t base, std::uint32_t depth, std::uint32_t entry_size)
        : base_(base), depth_(depth), entry_size_(entry_size) {}

    bool exists() const { return depth_ != 0; }
    std::uint64_t base() const { return base_; }
    std::uint64_t bytes() const { return std::uint64_t{depth_} * entry_size_; }
    std::uint32_t depth() const { return depth_; }
    std::uint32_t entry_size() const { return entry_size_; }
    /// Number of entries since the start, modulo 2^32.
    std::uint32_t produced() const { return produced_; }

    /// Returns the place of the next entry and advances. Precondition: exists().
    slot next() {
        const std::uint32_t index = place_;
        const bool phase = phase_;
        ++produced_;
        if (++place_ == depth_) {
            place_ = 0;
            phase_ = !phase_;
        }
        return {base_ + std::uint64_t{index} * entry_size_, phase};
    }

private:
    std::uint64_t base_ = 0;
    std::uint32_t depth_ = 0, entry_size_ = 0;
    std::uint32_t place_ = 0, produced_ = 0;
    bool phase_ = true;
};

}  // namespace trn

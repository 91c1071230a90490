// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>

#include "models/cards/nvme/media/block_store.h"

namespace trn::nvme {

/// The volatile write cache of a disk. Data is written to the store at once. The cache keeps the
/// durable content of each page written since the last flush, so that reads need no look-up and a
/// power loss restores it.
class write_cache {
public:
    static constexpr std::uint64_t page_bytes = 4096;

    /// `seed` selects the pages that a power loss restores.
    write_cache(block_store& store, std::uint64_t size, std::uint64_t capacity, std::uint64_t seed)
        : store_(store), size_(size), max_pages_(capacity / page_bytes), seed_(seed) {}

    bool exists() const { return max_pages_ != 0; }
    /// Must be called before a range is written. If the cache is full, the oldest pages become
    /// durable.
    bool about_to_write(std::uint64_t offset, std::uint64_t length);
    /// Makes all content durable.
    void flush();
    /// Makes the pages of a range durable.
    void flush(std::uint64_t offset, std::uint64_t length);
    /// Each page that is not durable is lost at random, independently.
    void lose_power();
    std::uint64_t dirty_bytes() const { return durable_.size() * page_bytes; }

private:
    using page = std::array<std::uint8_t, page_bytes>;

    std::uint64_t length_of(std::uint64_t number) const;
    void trim_order();

    block_store& store_;
    const std::uint64_t size_, max_pages_, seed_;
    std::uint64_t draws_ = 0;
    std::unordered_map<std::uint64_t, std::unique_ptr<page>> durable_;  // by page number
    // Pages in order of first write; may contain pages that are durable again.
    std::deque<std::uint64_t> order_;
};

}  // namespace trn::nvme

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>

#include "models/nvme_media/block_store.h"

namespace trn::nvme {

/// The volatile write cache of a disk. Data goes to the store at once; the cache keeps the durable
/// content of each page that was written since, so that reads need no look-up and a loss of power
/// restores it.
class write_cache {
public:
    static constexpr std::uint64_t page_bytes = 4096;

    /// `seed`: of the choice which pages a loss of power destroys.
    write_cache(block_store& store, std::uint64_t size, std::uint64_t capacity, std::uint64_t seed)
        : store_(store), size_(size), max_pages_(capacity / page_bytes), seed_(seed) {}

    /// Before the range is written. When the cache is full the oldest pages become durable.
    bool about_to_write(std::uint64_t offset, std::uint64_t length);
    /// All content is durable.
    void flush();
    /// The content of these pages is durable.
    void flush(std::uint64_t offset, std::uint64_t length);
    /// Each page that is not durable is lost or not, independent of others. Returns the number of
    /// lost pages.
    std::uint64_t lose_power();
    std::uint64_t dirty_bytes() const { return durable_.size() * page_bytes; }

private:
    using page = std::array<std::uint8_t, page_bytes>;

    std::uint64_t length_of(std::uint64_t number) const;
    void trim_order();

    block_store& store_;
    const std::uint64_t size_, max_pages_, seed_;
    std::uint64_t draws_ = 0;
    std::unordered_map<std::uint64_t, std::unique_ptr<page>> durable_;  // by page number
    std::deque<std::uint64_t> order_;  // of first writes; may name pages that are durable again
};

}  // namespace trn::nvme

// SPDX-License-Identifier: Apache-2.0
#include "models/cards/nvme/media/sparse_store.h"

#include <algorithm>
#include <cstring>

namespace trn::nvme {

namespace {

/// Number of bytes from `offset` to the end of its extent, at most `size`.
std::uint64_t in_extent(std::uint64_t offset, std::uint64_t size) {
    return std::min(size, sparse_store::extent_bytes - offset % sparse_store::extent_bytes);
}

}  // namespace

bool sparse_store::read(std::uint64_t offset, std::span<std::uint8_t> bytes) {
    while (!bytes.empty()) {
        const auto part = bytes.first(in_extent(offset, bytes.size()));
        const auto found = extents_.find(offset / extent_bytes);
        if (found == extents_.end())
            std::memset(part.data(), 0, part.size());
        else
            std::memcpy(part.data(), found->second->data() + offset % extent_bytes, part.size());
        offset += part.size();
        bytes = bytes.subspan(part.size());
    }
    return true;
}

bool sparse_store::write(std::uint64_t offset, std::span<const std::uint8_t> bytes) {
    while (!bytes.empty()) {
        const auto part = bytes.first(in_extent(offset, bytes.size()));
        auto& stored = extents_[offset / extent_bytes];
        if (!stored) stored = std::make_unique<extent>();
        std::memcpy(stored->data() + offset % extent_bytes, part.data(), part.size());
        offset += part.size();
        bytes = bytes.subspan(part.size());
    }
    return true;
}

std::optional<std::uint64_t> sparse_store::clear(std::uint64_t offset, std::uint64_t size) {
    const auto clear_part = [this](std::uint64_t position, std::uint64_t count) {
        const auto found = extents_.find(position / extent_bytes);
        if (found != extents_.end())
            std::memset(found->second->data() + position % extent_bytes, 0, count);
    };
    const std::uint64_t end = offset + size;
    const std::uint64_t first = (offset + extent_bytes - 1) / extent_bytes;  // whole extents
    const std::uint64_t last = end / extent_bytes;                           // exclusive
    if (first > last) {                                                      // within one extent
        clear_part(offset, size);
        return size;
    }
    if (first * extent_bytes > offset) clear_part(offset, first * extent_bytes - offset);
    if (end > last * extent_bytes) clear_part(last * extent_bytes, end - last * extent_bytes);
    if (last - first > extents_.size())
        std::erase_if(extents_,
                      [&](const auto& each) { return each.first >= first && each.first < last; });
    else
        for (std::uint64_t n = first; n < last; ++n) extents_.erase(n);
    return size;
}

}  // namespace trn::nvme

// SPDX-License-Identifier: Apache-2.0
#include "models/cards/nvme/media/sparse_store.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace trn::nvme {

bool sparse_store::read_unwritten(std::uint64_t, std::span<std::uint8_t> bytes) {
    std::ranges::fill(bytes, std::uint8_t{0});
    return true;
}

bool sparse_store::read(std::uint64_t offset, std::span<std::uint8_t> bytes) {
    while (!bytes.empty()) {
        const auto part = bytes.first(in_extent(offset, bytes.size()));
        const auto found = extents_.find(offset / extent_bytes);
        if (found == extents_.end()) {
            if (!read_unwritten(offset, part)) return false;
        } else if (!found->second) {
            std::ranges::fill(part, std::uint8_t{0});
        } else {
            std::memcpy(part.data(), found->second->data() + offset % extent_bytes, part.size());
        }
        offset += part.size();
        bytes = bytes.subspan(part.size());
    }
    return true;
}

sparse_store::extent* sparse_store::writable(std::uint64_t number) {
    if (const auto found = extents_.find(number); found != extents_.end()) {
        if (!found->second) found->second = std::make_unique<extent>();
        return found->second.get();
    }
    auto fresh = std::make_unique<extent>();
    if (!read_unwritten(number * extent_bytes, *fresh)) return nullptr;
    return (extents_[number] = std::move(fresh)).get();
}

bool sparse_store::write(std::uint64_t offset, std::span<const std::uint8_t> bytes) {
    while (!bytes.empty()) {
        const auto part = bytes.first(in_extent(offset, bytes.size()));
        auto* const stored = writable(offset / extent_bytes);
        if (stored == nullptr) return false;
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

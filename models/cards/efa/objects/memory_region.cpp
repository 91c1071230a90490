// SPDX-License-Identifier: Apache-2.0
#include "models/cards/efa/objects/memory_region.h"

#include <algorithm>
#include <utility>

namespace trn::efa_objects {

namespace {

bool wraps(std::uint64_t start, std::uint64_t length) {
    return length == 0 || start + (length - 1) < start;
}

}  // namespace

std::uint64_t memory_region::pages_of(std::uint64_t start, std::uint64_t length, unsigned shift) {
    if (wraps(start, length)) return 0;
    return ((start + (length - 1)) >> shift) - (start >> shift) + 1;
}

std::optional<memory_region> memory_region::make(std::uint16_t domain, std::uint64_t start,
                                                 std::uint64_t length, unsigned shift,
                                                 std::vector<std::uint64_t> pages,
                                                 permissions allowed) {
    const std::uint64_t needed = pages_of(start, length, shift);
    if (needed == 0 || needed > pages.size()) return std::nullopt;
    const std::uint64_t offset_bits = (std::uint64_t{1} << shift) - 1;
    if (std::ranges::any_of(pages, [&](std::uint64_t page) { return (page & offset_bits) != 0; }))
        return std::nullopt;
    memory_region made;
    made.domain_ = domain;
    made.start_ = start;
    made.length_ = length;
    made.shift_ = shift;
    made.pages_ = std::move(pages);
    made.allowed_ = allowed;
    return made;
}

std::optional<memory_region> memory_region::make_physical(std::uint16_t domain, std::uint64_t start,
                                                          std::uint64_t length,
                                                          permissions allowed) {
    if (wraps(start, length)) return std::nullopt;
    memory_region made;
    made.domain_ = domain;
    made.start_ = start;
    made.length_ = length;
    made.allowed_ = allowed;
    return made;
}

memory_region memory_region::make_free(std::uint16_t domain, std::uint32_t max_pages) {
    memory_region made;
    made.domain_ = domain;
    made.max_pages_ = max_pages;
    return made;
}

bool memory_region::enroll(std::uint64_t start, std::uint64_t length, unsigned shift,
                           std::vector<std::uint64_t> pages, permissions allowed) {
    if (!pages_.empty() || pages.size() > max_pages_) return false;
    auto made = make(domain_, start, length, shift, std::move(pages), allowed);
    if (!made) return false;
    made->max_pages_ = max_pages_;
    *this = std::move(*made);
    return true;
}

bool memory_region::withdraw() {
    if (max_pages_ == 0 || pages_.empty()) return false;
    *this = make_free(domain_, max_pages_);
    return true;
}

bool memory_region::permits(memory_access access, std::uint64_t address,
                            std::uint64_t length) const {
    if (max_pages_ != 0 && pages_.empty()) return false;
    const bool in_range =
        address >= start_ && length <= length_ && address - start_ <= length_ - length;
    switch (access) {
    case memory_access::local_read:
        return in_range;
    case memory_access::local_write:
        return in_range && allowed_.local_write;
    case memory_access::remote_read:
        return in_range && allowed_.remote_read;
    case memory_access::remote_write:
        return in_range && allowed_.remote_write;
    }
    return false;
}

memory_region::piece memory_region::translate(std::uint64_t address, std::uint64_t length) const {
    if (pages_.empty()) return {address, length};
    const std::uint64_t page_bytes = std::uint64_t{1} << shift_;
    const std::uint64_t offset = address & (page_bytes - 1);
    std::uint64_t page = (address >> shift_) - (start_ >> shift_);
    const std::uint64_t first = pages_[page] + offset;
    std::uint64_t bytes = page_bytes - offset;
    for (; bytes < length && pages_[page + 1] == pages_[page] + page_bytes; ++page)
        bytes += page_bytes;
    return {first, std::min(length, bytes)};
}

}  // namespace trn::efa_objects

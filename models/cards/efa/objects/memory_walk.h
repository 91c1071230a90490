// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "models/cards/efa/objects/objects.h"

namespace trn::efa_objects {

/// The elements of a work request or receive, addressed as one range of bytes.
class memory_walk {
public:
    static constexpr std::size_t max_elements =
        std::max(limits::send_elements, limits::receive_elements);
    struct element {
        std::uint32_t key = 0;
        std::uint64_t address = 0;
        std::uint32_t length = 0;
    };

    memory_walk() = default;
    /// Precondition: at most max_elements elements.
    memory_walk(std::uint16_t domain, memory_access access, std::span<const element> elements)
        : domain_(domain), access_(access), count_(elements.size()) {
        std::ranges::copy(elements, elements_.begin());
        for (const element& each : elements) length_ += each.length;
    }

    std::uint64_t length() const { return length_; }
    /// Whether all elements are in regions of the domain that permit the access.
    bool permitted(const objects& registered) const {
        for (const element& each : used())
            if (each.length != 0 && region_of(registered, each, 0, each.length) == nullptr)
                return false;
        return true;
    }
    /// Returns contiguous bus addresses from byte `offset` on, at most `max` bytes; nothing if the
    /// access is not permitted any more. Precondition: offset < length(), max > 0.
    std::optional<memory_region::piece> translate(const objects& registered, std::uint64_t offset,
                                                  std::uint64_t max) const {
        for (const element& each : used()) {
            if (offset >= each.length) {
                offset -= each.length;
                continue;
            }
            const std::uint64_t count = std::min<std::uint64_t>(max, each.length - offset);
            const memory_region* const region = region_of(registered, each, offset, count);
            if (region == nullptr) return std::nullopt;
            return region->translate(each.address + offset, count);
        }
        return std::nullopt;
    }

private:
    std::span<const element> used() const { return std::span(elements_).first(count_); }
    const memory_region* region_of(const objects& registered, const element& part,
                                   std::uint64_t offset, std::uint64_t count) const {
        const memory_region* const region = registered.regions.find(part.key);
        const bool usable = region != nullptr && region->domain() == domain_ &&
                            region->permits(access_, part.address + offset, count);
        return usable ? region : nullptr;
    }

    std::uint16_t domain_ = 0;
    memory_access access_ = memory_access::local_read;
    std::array<element, max_elements> elements_ = {};
    std::size_t count_ = 0;
    std::uint64_t length_ = 0;
};

}  // namespace trn::efa_objects

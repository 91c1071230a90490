// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace trn::efa_objects {

/// Accesses by a work request or by another card to a memory region.
enum class memory_access : std::uint8_t { local_read, local_write, remote_read, remote_write };

/// A registered range of virtual addresses and its physical pages (EFA contract 14).
class memory_region {
public:
    struct permissions {
        bool local_write = false, remote_write = false, remote_read = false;
    };
    /// Contiguous bus addresses.
    struct piece {
        std::uint64_t bus_address;
        std::uint64_t bytes;
    };

    /// Number of pages of 2^shift bytes that [start, start + length) touches; 0 if it is empty or
    /// wraps.
    static std::uint64_t pages_of(std::uint64_t start, std::uint64_t length, unsigned shift);
    /// `pages`: bus addresses of pages of 2^shift bytes; the first contains `start`. Nothing if a
    /// page is not aligned to its size, if the pages do not cover [start, start + length), or if
    /// the range is empty or wraps.
    static std::optional<memory_region> make(std::uint16_t domain, std::uint64_t start,
                                             std::uint64_t length, unsigned shift,
                                             std::vector<std::uint64_t> pages, permissions allowed);
    /// Makes a region whose virtual addresses are bus addresses.
    static std::optional<memory_region> make_physical(std::uint16_t domain, std::uint64_t start,
                                                      std::uint64_t length, permissions allowed);

    /// Makes a region without pages, which permits no access; enroll() adds at most `max_pages`.
    static memory_region make_free(std::uint16_t domain, std::uint32_t max_pages);
    /// Fast registration of a region of make_free(), with make()'s parameters. False, without
    /// change, if it has pages, if there are too many, or if make() would return nothing.
    bool enroll(std::uint64_t start, std::uint64_t length, unsigned shift,
                std::vector<std::uint64_t> pages, permissions allowed);
    /// Removes the pages that enroll() added. False if there are none.
    bool withdraw();
    std::uint32_t max_pages() const { return max_pages_; }  ///< 0: not from make_free()

    std::uint16_t domain() const { return domain_; }
    /// Number of pages that the card stores for the region; 0: physical.
    std::uint64_t page_count() const { return max_pages_ != 0 ? max_pages_ : pages_.size(); }
    /// Whether [address, address + length) is in the region, which permits the access.
    bool permits(memory_access access, std::uint64_t address, std::uint64_t length) const;
    /// Returns the first contiguous piece of [address, address + length). Precondition: the range
    /// is in the region and not empty.
    piece translate(std::uint64_t address, std::uint64_t length) const;

private:
    memory_region() = default;

    std::uint16_t domain_ = 0;
    std::uint64_t start_ = 0, length_ = 0;
    unsigned shift_ = 0;
    std::vector<std::uint64_t> pages_;  // empty: physical, or free
    std::uint32_t max_pages_ = 0;
    permissions allowed_;
};

}  // namespace trn::efa_objects

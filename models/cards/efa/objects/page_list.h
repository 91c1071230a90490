// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace trn::efa_objects {

/// Reads the list of a memory region's pages from memory: one array, or an indirect list, whose
/// chunks contain the addresses of the array's pages (EFA contract 14). Each chunk contributes at
/// least one page, so a cycle of chunks terminates.
class page_list {
public:
    struct request {
        std::uint64_t address;
        std::uint32_t bytes;  ///< 1 to 4096
    };

    /// Precondition: `pages` is not 0.
    static page_list direct(std::uint64_t array, std::uint32_t pages);
    static page_list indirect(std::uint64_t first_chunk, std::uint32_t pages);

    bool complete() const { return pages_.size() == wanted_; }
    /// The next bytes to read. Precondition: not complete().
    request next() const;
    /// `bytes`: content of the range that next() returned.
    void take(std::span<const std::uint8_t> bytes);
    /// Bus addresses of the pages.
    std::vector<std::uint64_t> pages() && { return std::move(pages_); }

private:
    static constexpr std::uint32_t list_page = 4096;       // bytes of a page of the array
    static constexpr std::uint32_t chunk_entries = 510;    // array pages in a chunk
    static constexpr std::uint32_t next_chunk_at = 4080;   // byte of a chunk
    static constexpr std::uint32_t next_chunk_bytes = 12;  // u32 length, u64 address
    enum class part : std::uint8_t { array, chunk, link };

    std::uint32_t entries_left() const;

    part part_ = part::array;
    bool indirect_ = false;
    std::uint64_t array_ = 0;                 // direct: address of the next bytes
    std::uint64_t chunk_ = 0;                 // indirect: address of the present chunk
    std::vector<std::uint64_t> array_pages_;  // addresses from the present chunk
    std::size_t array_page_ = 0;              // next index in array_pages_
    std::uint32_t wanted_ = 0;
    std::vector<std::uint64_t> pages_;
};

}  // namespace trn::efa_objects

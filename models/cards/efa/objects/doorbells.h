// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace trn::efa_objects {

/// Doorbells of a card: 32-bit words in pages of 4 KiB of a BAR. A process maps whole pages, so
/// each page belongs to one user access region (UAR).
class doorbells {
public:
    enum class purpose : std::uint8_t { send, receive, completion };
    struct doorbell {
        purpose use;
        std::uint32_t number;  ///< handle of the queue pair, or number of the completion queue
    };
    static constexpr std::uint64_t page_bytes = 4096;

    /// Uses `pages` pages from byte `first` of the BAR on.
    doorbells(std::uint64_t first, unsigned pages) : first_(first), max_pages_(pages) {}

    /// Returns the new doorbell's byte offset in the BAR; nothing if no page is free.
    std::optional<std::uint32_t> add(std::uint16_t uar, doorbell bell);
    void remove(std::uint32_t offset);
    /// The doorbell at a byte offset in the BAR; null if there is none.
    const doorbell* find(std::uint64_t offset) const;
    void clear() { pages_.clear(); }

private:
    static constexpr unsigned per_page = page_bytes / 4;
    struct page {
        std::uint16_t uar = 0;
        unsigned used = 0;  // number of words in use; 0: the page is free
        unsigned next = 0;  // first word that the search for a free one checks
        std::map<unsigned, doorbell> bells = {};  // by word
    };

    std::uint64_t first_;
    unsigned max_pages_;
    std::vector<page> pages_;
};

}  // namespace trn::efa_objects

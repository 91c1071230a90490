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
        purpose what;
        std::uint32_t number;  ///< of the queue pair's handle, or of the completion queue
    };
    static constexpr std::uint64_t page_bytes = 4096;

    /// Pages from byte `first` of the BAR on.
    doorbells(std::uint64_t first, unsigned pages) : first_(first), max_pages_(pages) {}

    /// Byte of the new doorbell in the BAR; nothing when no page is left.
    std::optional<std::uint32_t> add(std::uint16_t uar, doorbell bell);
    void remove(std::uint32_t offset);
    /// The doorbell at a byte of the BAR.
    const doorbell* find(std::uint64_t offset) const;
    void clear();

private:
    static constexpr unsigned per_page = page_bytes / 4;
    struct page {
        std::uint16_t uar = 0;
        unsigned used = 0;                        // words; 0: the page is free
        unsigned next = 0;                        // where the search for a free word begins
        std::map<unsigned, doorbell> bells = {};  // by word
    };

    std::uint64_t first_;
    unsigned max_pages_;
    std::vector<page> pages_;
};

}  // namespace trn::efa_objects

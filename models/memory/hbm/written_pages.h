// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace trn {

/// Tracks which 4 KiB pages of a memory have been written: 32 KiB of bits per GiB, allocated at the
/// first write.
class written_pages {
public:
    explicit written_pages(std::uint64_t size) : chunks_((size >> chunk_shift) + 1) {}

    void mark(std::uint64_t first, std::uint64_t bytes) {
        each_word(first, bytes, [&](std::uint64_t word, std::uint64_t mask) {
            auto& chunk = chunks_[word / words_per_chunk];
            if (chunk == nullptr) chunk = std::make_unique<std::uint64_t[]>(words_per_chunk);
            chunk[word % words_per_chunk] |= mask;
            return true;
        });
    }
    /// Whether all pages of [first, first + bytes) have been written.
    bool cover(std::uint64_t first, std::uint64_t bytes) const {
        return each_word(first, bytes, [&](std::uint64_t word, std::uint64_t mask) {
            const auto& chunk = chunks_[word / words_per_chunk];
            return chunk != nullptr && (chunk[word % words_per_chunk] & mask) == mask;
        });
    }

private:
    static constexpr unsigned page_shift = 12, chunk_shift = 30;
    static constexpr std::uint64_t words_per_chunk = (1ull << (chunk_shift - page_shift)) / 64;

    /// Calls `visit(word, mask)` for the words that hold the pages' bits, until it returns false.
    template <typename Visit>
    static bool each_word(std::uint64_t first, std::uint64_t bytes, Visit&& visit) {
        if (bytes == 0) return true;
        const std::uint64_t last = (first + bytes - 1) >> page_shift;
        for (std::uint64_t page = first >> page_shift; page <= last;) {
            const std::uint64_t word = page / 64, end = std::min(last, word * 64 + 63);
            const std::uint64_t mask = ~0ull << (page % 64) & ~0ull >> (63 - end % 64);
            if (!visit(word, mask)) return false;
            page = end + 1;
        }
        return true;
    }

    std::vector<std::unique_ptr<std::uint64_t[]>> chunks_;
};

}  // namespace trn

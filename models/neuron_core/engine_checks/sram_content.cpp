// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_core/engine_checks/sram_content.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace trn {

namespace {

// Low bytes 0xff and high bytes 0x7f or 0xff are NaNs in FP8, FP16, BF16 and FP32.
constexpr std::array<std::uint8_t, sram_content::granule_bytes> poison_granule{
    0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 0xff, 0x7f, 0xff, 0xff, 0xff, 0x7f};

}  // namespace

sram_content::page& sram_content::state_of(std::uint64_t number) {
    if (pages_.empty()) pages_.resize((size_ + page_bytes - 1) / page_bytes, page::fresh);
    return pages_[number];
}

bool sram_content::is_zero(std::uint64_t first, std::uint64_t end) const {
    const std::uint8_t* const start = bytes_ + first;
    if (first >= end) return true;
    return start[0] == 0 && std::memcmp(start, start + 1, end - first - 1) == 0;
}

/// Poisons a range. Precondition: all its bytes are unwritten.
void sram_content::fill(std::uint64_t first, std::uint64_t end) {
    for (std::uint64_t position = first; position < end;) {
        const std::uint64_t skip = position % granule_bytes;
        const std::uint64_t count = std::min(granule_bytes - skip, end - position);
        std::memcpy(bytes_ + position, poison_granule.data() + skip, count);
        position += count;
    }
}

/// Whether any granule that [first, end) touches holds the poison.
bool sram_content::has_poison(std::uint64_t first, std::uint64_t end) const {
    for (std::uint64_t position = first / granule_bytes * granule_bytes; position < end;
         position += granule_bytes)
        if (std::memcmp(bytes_ + position, poison_granule.data(), granule_bytes) == 0) return true;
    return false;
}

void sram_content::written(std::uint64_t first, std::uint64_t count) {
    if (first >= size_ || count == 0) return;
    const std::uint64_t end = first + std::min(count, size_ - first);
    for (std::uint64_t number = first / page_bytes; number * page_bytes < end; ++number) {
        page& state = state_of(number);
        if (state != page::fresh) continue;
        const std::uint64_t begin = number * page_bytes, next = std::min(begin + page_bytes, size_);
        const std::uint64_t before = std::max(begin, first), after = std::min(end, next);
        const bool fresh = poisons_ && is_zero(begin, before) && is_zero(after, next);
        const bool whole = before == begin && after == next;
        state = whole || !fresh ? page::written : page::poisoned;
        if (state == page::written) continue;
        fill(begin, before);
        fill(after, next);
    }
}

bool sram_content::has_unwritten(std::uint64_t first, std::uint64_t count) {
    const std::uint64_t end = first + count;
    bool found = false;
    for (std::uint64_t number = first / page_bytes; number * page_bytes < end; ++number) {
        page& state = state_of(number);
        if (state == page::written) continue;
        const std::uint64_t begin = number * page_bytes, next = std::min(begin + page_bytes, size_);
        if (state == page::fresh) {
            if (!is_zero(begin, next)) {
                state = page::written;
                continue;
            }
            fill(begin, next);
            state = page::poisoned;
        }
        const std::uint64_t part_begin = std::max(first, begin), part_end = std::min(end, next);
        const bool poison = has_poison(part_begin, part_end);
        found |= poison;
        if (!poison && part_begin == begin && part_end == next) state = page::written;
    }
    return found;
}

}  // namespace trn

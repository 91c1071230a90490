// SPDX-License-Identifier: Apache-2.0
#include "models/cards/nvme/queues/prp_list.h"

#include <algorithm>

namespace trn::nvme {

prp_list::prp_list(std::uint64_t prp1, std::uint64_t prp2, std::uint64_t length) {
    now_ = {prp1, std::min(length, page - prp1 % page)};
    left_ = length - now_.length;
    if (prp1 % 4 != 0) outcome_ = status::invalid_prp_offset;
    if (left_ == 0) return;
    if (left_ <= page) {  // a second page, not a list
        if (prp2 % page != 0) outcome_ = status::invalid_prp_offset;
        entries_[0] = prp2;
        count_ = 1;
        return;
    }
    if (prp2 % sizeof(std::uint64_t) != 0) outcome_ = status::invalid_prp_offset;
    list_ = prp2;
}

std::optional<prp_list::piece> prp_list::needs() const {
    if (outcome_ != status::success || now_.length != 0 || left_ == 0 || index_ != count_)
        return std::nullopt;
    const std::uint64_t pages = (left_ + page - 1) / page;
    return piece{list_, std::min<std::uint64_t>(pages, slots()) * sizeof(std::uint64_t)};
}

void prp_list::take(std::span<const std::uint64_t> entries) {
    const std::uint64_t pages = (left_ + page - 1) / page;
    for (const std::uint64_t each : entries)
        if (each % page != 0) outcome_ = status::invalid_prp_offset;
    if (outcome_ != status::success) return;
    std::ranges::copy(entries, entries_.begin());
    index_ = 0;
    count_ = static_cast<std::uint32_t>(entries.size());
    if (pages > entries.size()) list_ = entries_[--count_];  // last entry: next part of the list
    refill();
}

void prp_list::advance(std::uint64_t bytes) {
    now_.address += bytes;
    now_.length -= bytes;
    if (now_.length == 0) refill();
}

/// Merges contiguous pages.
void prp_list::refill() {
    while (index_ != count_ && left_ != 0) {
        if (now_.length != 0 && entries_[index_] != now_.address + now_.length) return;
        if (now_.length == 0) now_.address = entries_[index_];
        const std::uint64_t count = std::min(left_, page);
        now_.length += count;
        left_ -= count;
        ++index_;
    }
}

}  // namespace trn::nvme

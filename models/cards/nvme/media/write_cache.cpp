// SPDX-License-Identifier: Apache-2.0
#include "models/cards/nvme/media/write_cache.h"

#include <algorithm>
#include <span>

#include "platform/framework/kernel/random.h"

namespace trn::nvme {

std::uint64_t write_cache::length_of(std::uint64_t number) const {
    return std::min(page_bytes, size_ - number * page_bytes);
}

bool write_cache::about_to_write(std::uint64_t offset, std::uint64_t length) {
    if (max_pages_ == 0 || length == 0) return true;
    const std::uint64_t last = (offset + length - 1) / page_bytes;
    for (std::uint64_t n = offset / page_bytes; n <= last; ++n) {
        const auto [kept, is_new] = durable_.try_emplace(n);
        if (!is_new) continue;
        kept->second = std::make_unique<page>();
        if (!store_.read(n * page_bytes, std::span(*kept->second).first(length_of(n)))) {
            durable_.erase(kept);
            return false;
        }
        order_.push_back(n);
        while (durable_.size() > max_pages_ && !order_.empty()) {
            durable_.erase(order_.front());
            order_.pop_front();
        }
    }
    trim_order();
    return true;
}

void write_cache::flush() {
    durable_.clear();
    order_.clear();
}

void write_cache::flush(std::uint64_t offset, std::uint64_t length) {
    if (length == 0 || durable_.empty()) return;
    const std::uint64_t first = offset / page_bytes, last = (offset + length - 1) / page_bytes;
    if (last - first < durable_.size())
        for (std::uint64_t n = first; n <= last; ++n) durable_.erase(n);
    else
        std::erase_if(durable_,
                      [=](const auto& each) { return first <= each.first && each.first <= last; });
    trim_order();
}

/// Limits the list to about twice the number of dirty pages.
void write_cache::trim_order() {
    if (order_.size() <= 2 * durable_.size() + 64) return;
    std::unordered_map<std::uint64_t, bool> seen;
    std::erase_if(order_, [&](std::uint64_t n) {
        return !durable_.contains(n) || !seen.emplace(n, true).second;
    });
}

void write_cache::lose_power() {
    for (const std::uint64_t n : order_) {
        const auto found = durable_.find(n);
        if (found == durable_.end()) continue;
        if ((mix_bits(seed_ + draws_++) & 1) != 0)
            store_.write(n * page_bytes, std::span(*found->second).first(length_of(n)));
        durable_.erase(found);
    }
    flush();
}

}  // namespace trn::nvme

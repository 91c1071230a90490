// SPDX-License-Identifier: Apache-2.0
#include "models/cards/efa/objects/doorbells.h"

#include <algorithm>

namespace trn::efa_objects {

std::optional<std::uint32_t> doorbells::add(std::uint16_t uar, doorbell bell) {
    auto at = std::ranges::find_if(
        pages_, [&](const page& p) { return p.used > 0 && p.used < per_page && p.uar == uar; });
    if (at == pages_.end())
        at = std::ranges::find_if(pages_, [](const page& p) { return p.used == 0; });
    if (at == pages_.end()) {
        if (pages_.size() == max_pages_) return std::nullopt;
        pages_.emplace_back();
        at = pages_.end() - 1;
    }
    at->uar = uar;
    unsigned word = at->next;
    while (at->bells.contains(word)) word = (word + 1) % per_page;
    at->bells.emplace(word, bell);
    at->next = (word + 1) % per_page;
    ++at->used;
    const auto index = static_cast<std::uint64_t>(at - pages_.begin());
    return static_cast<std::uint32_t>(first_ + index * page_bytes + word * 4);
}

void doorbells::remove(std::uint32_t offset) {
    if (find(offset) == nullptr) return;
    page& of = pages_[(offset - first_) / page_bytes];
    of.bells.erase(static_cast<unsigned>((offset - first_) % page_bytes / 4));
    --of.used;
}

const doorbells::doorbell* doorbells::find(std::uint64_t offset) const {
    if (offset < first_ || offset % 4 != 0) return nullptr;
    const std::uint64_t index = (offset - first_) / page_bytes;
    if (index >= pages_.size()) return nullptr;
    const auto& bells = pages_[index].bells;
    const auto at = bells.find(static_cast<unsigned>((offset - first_) % page_bytes / 4));
    return at == bells.end() ? nullptr : &at->second;
}

void doorbells::clear() {
    pages_.clear();
}

}  // namespace trn::efa_objects

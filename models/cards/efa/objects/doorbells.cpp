// SPDX-License-Identifier: Apache-2.0
#include "models/cards/efa/objects/doorbells.h"

#include <algorithm>

namespace trn::efa_objects {

std::optional<std::uint32_t> doorbells::add(std::uint16_t uar, doorbell bell) {
    auto place = std::ranges::find_if(
        pages_, [&](const page& p) { return p.used > 0 && p.used < per_page && p.uar == uar; });
    if (place == pages_.end())
        place = std::ranges::find_if(pages_, [](const page& p) { return p.used == 0; });
    if (place == pages_.end()) {
        if (pages_.size() == max_pages_) return std::nullopt;
        pages_.emplace_back();
        place = pages_.end() - 1;
    }
    place->uar = uar;
    unsigned word = place->next;
    while (place->bells.contains(word)) word = (word + 1) % per_page;
    place->bells.emplace(word, bell);
    place->next = (word + 1) % per_page;
    ++place->used;
    const auto index = static_cast<std::uint64_t>(place - pages_.begin());
    return static_cast<std::uint32_t>(first_ + index * page_bytes + word * 4);
}

void doorbells::remove(std::uint32_t offset) {
    if (find(offset) == nullptr) return;
    page& owner = pages_[(offset - first_) / page_bytes];
    owner.bells.erase(static_cast<unsigned>((offset - first_) % page_bytes / 4));
    --owner.used;
}

const doorbells::doorbell* doorbells::find(std::uint64_t offset) const {
    if (offset < first_ || offset % 4 != 0) return nullptr;
    const std::uint64_t index = (offset - first_) / page_bytes;
    if (index >= pages_.size()) return nullptr;
    const auto& bells = pages_[index].bells;
    const auto found = bells.find(static_cast<unsigned>((offset - first_) % page_bytes / 4));
    return found == bells.end() ? nullptr : &found->second;
}

}  // namespace trn::efa_objects

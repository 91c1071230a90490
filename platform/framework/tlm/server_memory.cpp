// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/tlm/server_memory.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace trn {

std::optional<std::uint64_t> server_memory::allocate(std::uint64_t size) {
    if (size == 0 || size > bytes_.size()) return std::nullopt;
    size = whole_pages(size);
    const auto hole = std::ranges::find_if(holes_, [&](const auto& h) { return h.second >= size; });
    std::uint64_t offset = top_;
    if (hole != holes_.end()) {
        offset = hole->first;
        const std::uint64_t rest = hole->second - size;
        holes_.erase(hole);
        if (rest) holes_.emplace(offset + size, rest);
    } else if (size > bytes_.size() - top_) {
        return std::nullopt;
    } else {
        top_ += size;
    }
    if (offset < used_) std::memset(bytes_.data() + offset, 0, std::min(size, used_ - offset));
    used_ = std::max(used_, top_);
    allocated_.emplace(offset, size);
    return offset;
}

void server_memory::free(std::uint64_t offset, std::uint64_t size) {
    const auto mine = allocated_.find(offset);
    if (mine == allocated_.end() || size > mine->second || whole_pages(size) != mine->second)
        return;
    allocated_.erase(mine);
    auto hole = holes_.emplace(offset, whole_pages(size)).first;
    const auto joins = [&](auto first, auto second) {
        if (second == holes_.end() || first->first + first->second != second->first) return false;
        first->second += second->second;
        holes_.erase(second);
        return true;
    };
    joins(hole, std::next(hole));
    if (hole != holes_.begin()) {
        const auto before = std::prev(hole);
        if (joins(before, hole)) hole = before;
    }
    if (hole->first + hole->second != top_) return;
    top_ = hole->first;
    holes_.erase(hole);
}

}  // namespace trn

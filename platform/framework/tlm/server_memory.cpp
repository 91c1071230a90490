// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/tlm/server_memory.h"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace trn {

std::optional<std::uint64_t> server_memory::allocate(std::uint64_t size) {
    if (size == 0 || size > bytes_.size()) return std::nullopt;
    size = whole_pages(size);
    const auto hole = std::find_if(holes_.begin(), holes_.end(),
                                   [&](const auto& candidate) { return candidate.second >= size; });
    if (hole != holes_.end()) {
        const std::uint64_t offset = hole->first;
        const std::uint64_t rest = hole->second - size;
        holes_.erase(hole);
        if (rest) holes_.emplace(offset + size, rest);
        std::memset(bytes_.data() + offset, 0, size);
        return offset;
    }
    if (size > bytes_.size() - top_) return std::nullopt;
    const std::uint64_t offset = top_;
    top_ += size;
    return offset;
}

void server_memory::free(std::uint64_t offset, std::uint64_t size) {
    auto [hole, added] = holes_.emplace(offset, whole_pages(size));
    if (!added) return;
    if (const auto next = std::next(hole);
        next != holes_.end() && hole->first + hole->second == next->first) {
        hole->second += next->second;
        holes_.erase(next);
    }
    if (hole != holes_.begin()) {
        const auto before = std::prev(hole);
        if (before->first + before->second == hole->first) {
            before->second += hole->second;
            holes_.erase(hole);
        }
    }
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#include "models/neuron_core/sequencer/units/program_buffer.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace trn {

program_buffer::block& program_buffer::replace(std::uint32_t number, std::uint32_t current) {
    const auto distance = [current](const std::unique_ptr<block>& b) {
        if (!b || !b->used) return std::int64_t{1} << 32;
        return std::abs(std::int64_t{b->number} - current);
    };
    const auto victim = std::ranges::max_element(blocks_, {}, distance);
    if (!*victim) *victim = std::make_unique<block>();
    if ((*victim)->used)
        for (unsigned w = 0; w < block_words; ++w) {
            const std::uint32_t pc = (*victim)->number * block_words + w;
            if (decoded(pc) != nullptr) entries_[pc % entries_.size()].reset();
            // The second word of a long instruction may lie in this block.
            if (w == 0 && pc != 0 && decoded(pc - 1) != nullptr)
                entries_[(pc - 1) % entries_.size()].reset();
        }
    (*victim)->number = number;
    (*victim)->used = true;
    return **victim;
}

void program_buffer::drop() {
    for (auto& b : blocks_) b.reset();
    for (auto& e : entries_) e.reset();
}

program_buffer::entry& program_buffer::keep(std::uint32_t pc, entry added) {
    auto& e = entries_[pc % entries_.size()];
    if (!e) e = std::make_unique<entry>();
    *e = std::move(added);
    tags_[pc % entries_.size()] = pc;
    return *e;
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#include "models/processor/riscv/decode/code_cache.h"

#include <cstring>
#include <utility>

namespace trn::riscv {

namespace {

/// Fast, not cryptographic: contents are compared byte by byte afterwards.
u64 digest(const u8* content) {
    u64 lanes[4] = {1, 2, 3, 4};
    for (u64 offset = 0; offset < code_page::size; offset += sizeof lanes) {
        for (u64 i = 0; i < 4; ++i) {
            u64 word;
            std::memcpy(&word, content + offset + i * 8, 8);
            lanes[i] = (lanes[i] ^ word) * 0x9e3779b97f4a7c15u;
            lanes[i] ^= lanes[i] >> 29;
        }
    }
    return lanes[0] ^ lanes[1] << 1 ^ lanes[2] << 2 ^ lanes[3] << 3;
}

}  // namespace

code_page::code_page(const u8* content, isa extensions, std::vector<u16> stops,
                     const predecoder& decoder, std::shared_ptr<back_end> translator)
    : isa_(extensions),
      stops_(std::move(stops)),
      decoder_(decoder),
      back_end_(std::move(translator)) {
    std::memcpy(content_.data(), content, size);
}

void code_page::record(coverage& all, u64 address) {
    if (program_ != nullptr) return;
    program_ = all.find(address, content_);
    address_ = address;
}

void code_page::name_functions(const function_names& all, u64 address) {
    if (functions_ != nullptr) return;
    functions_ = all.find(address, content_);
    functions_at_ = address;
}

bool code_page::is_of(const u8* content, isa extensions, const std::vector<u16>& stops) const {
    return isa_ == extensions && stops_ == stops &&
           std::memcmp(content_.data(), content, size) == 0;
}

const op* code_page::block_at(u32 offset) {
    const op*& entry = entry_[offset / 2];
    if (entry == nullptr) {
        blocks_.push_back(std::make_unique<block>());
        decoder_.block(*blocks_.back(), *this, offset);
        entry = blocks_.back()->first();
        if (back_end_ != nullptr) back_end_->adopt(*blocks_.back());
    }
    return entry;
}

std::shared_ptr<code_page> code_cache::find(const u8* content, isa extensions,
                                            std::vector<u16> stops) {
    if (recent_.empty()) recent_.resize(max_recent);
    auto& recent = recent_[reinterpret_cast<u64>(content) / code_page::size % max_recent];
    if (recent && recent->is_of(content, extensions, stops)) return recent;
    const u64 key = digest(content);
    const auto [first, end] = pages_.equal_range(key);
    for (auto candidate = first; candidate != end; ++candidate) {
        if (candidate->second->is_of(content, extensions, stops)) return recent = candidate->second;
    }
    if (pages_.size() >= max_pages) drop_unused();
    if (pages_.empty()) back_end_ = back_end::chosen();
    recent =
        std::make_shared<code_page>(content, extensions, std::move(stops), decoder_, back_end_);
    return pages_.emplace(key, recent)->second;
}

void code_cache::drop_unused() {
    recent_.assign(max_recent, nullptr);
    std::erase_if(pages_, [](const auto& item) { return item.second.use_count() == 1; });
}

}  // namespace trn::riscv

// SPDX-License-Identifier: Apache-2.0
#include "models/cards/efa/objects/page_list.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace trn::efa_objects {

namespace {

constexpr std::uint32_t address_bytes = 8;

void append(std::vector<std::uint64_t>& addresses, std::span<const std::uint8_t> bytes) {
    for (std::size_t offset = 0; offset + address_bytes <= bytes.size(); offset += address_bytes) {
        std::uint64_t address = 0;
        std::memcpy(&address, &bytes[offset], sizeof address);
        addresses.push_back(address);
    }
}

}  // namespace

page_list page_list::direct(std::uint64_t array, std::uint32_t pages) {
    page_list list;
    list.array_ = array;
    list.wanted_ = pages;
    return list;
}

page_list page_list::indirect(std::uint64_t first_chunk, std::uint32_t pages) {
    page_list list;
    list.indirect_ = true;
    list.part_ = part::chunk;
    list.chunk_ = first_chunk;
    list.wanted_ = pages;
    return list;
}

/// Number of array pages that are still to be read.
std::uint32_t page_list::entries_left() const {
    constexpr std::uint32_t per_page = list_page / address_bytes;
    const auto left = wanted_ - static_cast<std::uint32_t>(pages_.size());
    return (left + per_page - 1) / per_page;
}

page_list::request page_list::next() const {
    const auto left = wanted_ - static_cast<std::uint32_t>(pages_.size());
    switch (part_) {
    case part::chunk:
        return {chunk_, std::min(entries_left(), chunk_entries) * address_bytes};
    case part::link:
        return {chunk_ + next_chunk_at, next_chunk_bytes};
    case part::array:
        break;
    }
    const std::uint64_t address = indirect_ ? array_pages_[array_page_] : array_;
    return {address, std::min(left, list_page / address_bytes) * address_bytes};
}

void page_list::take(std::span<const std::uint8_t> bytes) {
    switch (part_) {
    case part::chunk:
        array_pages_.clear();
        array_page_ = 0;
        append(array_pages_, bytes);
        part_ = part::array;
        return;
    case part::link:
        std::memcpy(&chunk_, &bytes[4], sizeof chunk_);
        part_ = part::chunk;
        return;
    case part::array:
        break;
    }
    append(pages_, bytes);
    array_ += bytes.size();
    if (indirect_ && ++array_page_ == array_pages_.size()) part_ = part::link;
}

}  // namespace trn::efa_objects

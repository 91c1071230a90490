// SPDX-License-Identifier: Apache-2.0
#include "platform/app/linux_symbols/guest_memory.h"

#include <algorithm>

namespace trn {

namespace {

constexpr unsigned satp = debug_target::first_csr + 0x180;
constexpr std::uint64_t bare_mode = 3, page_size = 4096;

}  // namespace

/// Through the hart's present translation: physical memory in machine mode.
bool guest_memory::peek(std::uint64_t address, std::span<std::uint8_t> bytes) const {
    const auto raw = std::as_writable_bytes(bytes);
    return hart_.memory().peek(address, raw) == raw.size();
}

/// Walks the page table of supervisor mode (Priv. 12.3 to 12.6), in machine mode.
std::optional<std::uint64_t> guest_memory::physical(std::uint64_t address) const {
    constexpr std::uint64_t valid = 1, leaf = 0xe, napot = std::uint64_t{1} << 63;
    const auto root = hart_.read_register(satp).value_or(0);
    const auto mode = root >> 60;  // 8: Sv39, 9: Sv48, 10: Sv57
    if (mode < 8 || mode > 10) return std::nullopt;
    std::uint64_t table = (root & 0xfff'ffff'ffff) * page_size;
    for (auto level = static_cast<unsigned>(mode) - 6;; --level) {
        const unsigned shift = 12 + 9 * level;
        std::uint64_t entry = 0;
        const std::span bytes(reinterpret_cast<std::uint8_t*>(&entry), sizeof entry);
        if (!peek(table + (address >> shift & 0x1ff) * sizeof entry, bytes) || (entry & valid) == 0)
            return std::nullopt;
        const std::uint64_t frame = (entry >> 10 & 0xfff'ffff'ffff) * page_size;
        if ((entry & leaf) != 0) {
            // A contiguous range of 64 KiB has its size in the frame's lowest bits (Svnapot).
            const unsigned bits = (entry & napot) != 0 && level == 0 ? 16 : shift;
            const auto mask = (std::uint64_t{1} << bits) - 1;
            return (frame & ~mask) | (address & mask);
        }
        if (level == 0) return std::nullopt;
        table = frame;
    }
}

bool guest_memory::read(std::uint64_t address, std::span<std::uint8_t> bytes) const {
    if (hart_.read_register(debug_target::priv) != bare_mode) return peek(address, bytes);
    while (!bytes.empty()) {
        const auto place = physical(address);
        const auto part = std::min<std::uint64_t>(bytes.size(), page_size - address % page_size);
        if (!place || !peek(*place, bytes.first(part))) return false;
        bytes = bytes.subspan(part);
        address += part;
    }
    return true;
}

std::string guest_memory::text(std::uint64_t address, std::size_t limit) const {
    std::string found;
    while (found.size() < limit) {
        const auto c = number<std::uint8_t>(address + found.size());
        if (!c || *c == 0) break;
        found += *c < 0x20 || *c > 0x7e ? '?' : static_cast<char>(*c);
    }
    return found;
}

}  // namespace trn

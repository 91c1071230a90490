// SPDX-License-Identifier: Apache-2.0
#include "sw-stubs/host/values/pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace trn {

pattern::pattern(std::uint64_t seed, std::string_view name) : key_(mix(seed + 1)) {
    for (const char c : name) key_ = mix(key_ ^ static_cast<std::uint8_t>(c));
}

std::uint64_t pattern::word(std::uint64_t index) const {
    return mix(key_ + index * 0x9e3779b97f4a7c15);
}

/// Splits [position, position + size) at the boundaries of the pattern's words.
template <typename Piece>
static void for_each_piece(std::uint64_t position, std::size_t size, Piece&& piece) {
    for (std::size_t done = 0; done < size;) {
        const std::size_t skip = (position + done) % 8;
        const std::size_t part = std::min(8 - skip, size - done);
        if (!piece(done, (position + done) / 8, skip, part)) return;
        done += part;
    }
}

void pattern::fill(std::span<std::uint8_t> bytes, std::uint64_t position) const {
    for_each_piece(position, bytes.size(), [&](auto offset, auto index, auto skip, auto part) {
        const std::uint64_t value = word(index);
        if (part == 8)
            std::memcpy(&bytes[offset], &value, 8);
        else
            std::memcpy(&bytes[offset], reinterpret_cast<const std::uint8_t*>(&value) + skip, part);
        return true;
    });
}

std::optional<pattern::mismatch> pattern::check(std::span<const std::uint8_t> bytes,
                                                std::uint64_t position) const {
    std::optional<mismatch> wrong;
    for_each_piece(position, bytes.size(), [&](auto offset, auto index, auto skip, auto part) {
        const std::uint64_t value = word(index);
        const auto* expected = reinterpret_cast<const std::uint8_t*>(&value) + skip;
        if (std::memcmp(&bytes[offset], expected, part) == 0) return true;
        std::size_t i = 0;
        while (bytes[offset + i] == expected[i]) ++i;
        wrong = mismatch{position + offset + i, expected[i], bytes[offset + i]};
        return false;
    });
    return wrong;
}

std::string to_string(const pattern::mismatch& m) {
    return fmt::format("byte {:#x} is {:#04x} instead of {:#04x}", m.position, m.found, m.expected);
}

std::optional<pattern::mismatch> compare(std::span<const std::uint8_t> expected,
                                         std::span<const std::uint8_t> found) {
    const auto size = std::min(expected.size(), found.size());
    if (size == 0 || std::memcmp(expected.data(), found.data(), size) == 0) return std::nullopt;
    const auto [e, f] = std::ranges::mismatch(expected, found);
    if (e == expected.end() || f == found.end()) return std::nullopt;
    return pattern::mismatch{static_cast<std::uint64_t>(e - expected.begin()), *e, *f};
}

}  // namespace trn

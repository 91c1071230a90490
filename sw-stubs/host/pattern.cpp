// SPDX-License-Identifier: Apache-2.0
#include "sw-stubs/host/pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace trn {

namespace {

/// The finaliser of SplitMix64: every bit of the input moves half of the bits of the output.
std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

}  // namespace

pattern::pattern(std::uint64_t seed, std::string_view name) : key_(mix(seed + 1)) {
    for (const char c : name) key_ = mix(key_ ^ static_cast<std::uint8_t>(c));
}

std::uint64_t pattern::word(std::uint64_t index) const {
    return mix(key_ + index * 0x9e3779b97f4a7c15);
}

void pattern::fill(std::span<std::uint8_t> bytes, std::uint64_t position) const {
    for (std::size_t done = 0; done < bytes.size();) {
        const std::uint64_t value = word((position + done) / 8);
        const std::size_t skip = (position + done) % 8;
        const std::size_t part = std::min(8 - skip, bytes.size() - done);
        std::memcpy(&bytes[done], reinterpret_cast<const std::uint8_t*>(&value) + skip, part);
        done += part;
    }
}

std::optional<pattern::mismatch> pattern::check(std::span<const std::uint8_t> bytes,
                                                std::uint64_t position) const {
    for (std::size_t done = 0; done < bytes.size();) {
        const std::uint64_t value = word((position + done) / 8);
        const std::size_t skip = (position + done) % 8;
        const std::size_t part = std::min(8 - skip, bytes.size() - done);
        const auto* expected = reinterpret_cast<const std::uint8_t*>(&value) + skip;
        if (std::memcmp(&bytes[done], expected, part) != 0)
            for (std::size_t i = 0; i < part; ++i)
                if (bytes[done + i] != expected[i])
                    return mismatch{position + done + i, expected[i], bytes[done + i]};
        done += part;
    }
    return std::nullopt;
}

std::string to_string(const pattern::mismatch& m) {
    return fmt::format("byte {:#x} is {:#04x} instead of {:#04x}", m.position, m.found, m.expected);
}

std::optional<pattern::mismatch> compare(std::span<const std::uint8_t> expected,
                                         std::span<const std::uint8_t> found) {
    const auto [e, f] = std::ranges::mismatch(expected, found);
    if (e == expected.end() || f == found.end()) return std::nullopt;
    return pattern::mismatch{static_cast<std::uint64_t>(e - expected.begin()), *e, *f};
}

}  // namespace trn

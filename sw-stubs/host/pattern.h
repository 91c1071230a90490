// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace trn {

/// The finaliser of SplitMix64: every bit of the input moves half of the bits of the output.
constexpr std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

/// Bytes that look random and are known by their seed and position: what copies are checked with.
class pattern {
public:
    /// The same seed and name give the same bytes, on every machine.
    explicit pattern(std::uint64_t seed, std::string_view name = "");

    /// The bytes at `position` and behind it.
    void fill(std::span<std::uint8_t> bytes, std::uint64_t position = 0) const;

    struct mismatch {
        std::uint64_t position;
        std::uint8_t expected, found;
    };
    /// The first byte that is not the pattern's.
    std::optional<mismatch> check(std::span<const std::uint8_t> bytes,
                                  std::uint64_t position = 0) const;

private:
    std::uint64_t word(std::uint64_t index) const;
    std::uint64_t key_;
};

/// "byte 0x1003 is 0x41 instead of 0x7f"
std::string to_string(const pattern::mismatch& m);

/// The first difference of two equally long spans.
std::optional<pattern::mismatch> compare(std::span<const std::uint8_t> expected,
                                         std::span<const std::uint8_t> found);

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace trn {

/// The finaliser of SplitMix64: each input bit affects half of the output bits on average.
constexpr std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

/// Pseudo-random bytes defined by seed and position, to check copies.
class pattern {
public:
    /// Equal seeds and names give equal bytes on every machine.
    explicit pattern(std::uint64_t seed, std::string_view name = "");

    /// The bytes from `position` on.
    void fill(std::span<std::uint8_t> bytes, std::uint64_t position = 0) const;

    struct mismatch {
        std::uint64_t position;
        std::uint8_t expected, found;
    };
    /// The first byte that differs from the pattern.
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

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "models/neuron_isa/instructions/instruction.h"

namespace trn::isa {

/// Bytes of a partition of SBUF and of PSUM.
struct partition_sizes {
    std::uint32_t sbuf, psum;
};

/// A set of partitions of SBUF or PSUM.
class partition_set {
public:
    constexpr partition_set() = default;
    /// `count` partitions from `first` on.
    constexpr partition_set(unsigned first, unsigned count)
        : words_{bits(first, count), bits(first, count, 64)} {}

    constexpr void add(unsigned partition) { words_[partition / 64] |= 1ull << partition % 64; }
    constexpr bool meets(const partition_set& other) const {
        return (words_[0] & other.words_[0]) != 0 || (words_[1] & other.words_[1]) != 0;
    }
    constexpr partition_set operator&(const partition_set& other) const {
        return {{words_[0] & other.words_[0], words_[1] & other.words_[1]}};
    }
    constexpr partition_set operator|(const partition_set& other) const {
        return {{words_[0] | other.words_[0], words_[1] | other.words_[1]}};
    }
    constexpr unsigned count() const {
        return static_cast<unsigned>(std::popcount(words_[0]) + std::popcount(words_[1]));
    }
    /// The lowest member. Precondition: not empty.
    constexpr unsigned first() const {
        return static_cast<unsigned>(words_[0] != 0 ? std::countr_zero(words_[0])
                                                    : 64 + std::countr_zero(words_[1]));
    }

private:
    constexpr partition_set(const std::array<std::uint64_t, 2>& words) : words_(words) {}
    /// Bits of a word whose bit 0 is partition `base`.
    static constexpr std::uint64_t bits(unsigned first, unsigned count, unsigned base = 0) {
        const unsigned low = std::clamp(first, base, base + 64) - base,
                       high = std::clamp(first + count, base, base + 64) - base;
        const std::uint64_t below = high == 64 ? ~0ull : (1ull << high) - 1;
        return low == 64 ? 0 : below & ~((1ull << low) - 1);
    }

    std::array<std::uint64_t, 2> words_{};
};

/// Bytes in one memory that contain all elements of a tile: the same range in each partition.
struct footprint {
    isa::space space = isa::space::none;
    partition_set partitions;
    std::int64_t first_byte = 0, last_byte = -1;

    bool overlaps(const footprint& other) const {
        return space != isa::space::none && space == other.space && first_byte <= other.last_byte &&
               other.first_byte <= last_byte && partitions.meets(other.partitions);
    }
};
footprint footprint_of(const tile_operand& t, const partition_sizes& sizes);

/// Footprints of the tensor operands of an instruction, without partitions of the tiles that it
/// does not access (spec 3.9, 8.4, 8.6).
struct operand_footprints {
    footprint dst, a, b;
};
operand_footprints footprints_of(const instruction& i, const partition_sizes& sizes);

}  // namespace trn::isa

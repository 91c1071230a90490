// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "models/neuron_isa/instructions/instruction.h"

namespace trn {

/// Cycles of the Tensor engine's array per group of 32 rows, for the PE counters that a driver
/// reads. They count from power-on; resets of the core do not clear them.
class array_activity {
public:
    static constexpr unsigned row_groups = 4;
    struct group {
        std::uint64_t matmul = 0;
        std::uint64_t load = 0;       ///< loads of stationaries of 32-bit types
        std::uint64_t fast_load = 0;  ///< other loads; which are fast is invented
    };

    /// `i` occupies its rows for `cycles` from `start` on.
    void occupy(const isa::instruction& i, std::uint64_t start, std::uint64_t cycles) {
        const isa::pe_tile tile = isa::pe_tile_of(i.tile);
        const bool wide = numerics::size_of(i.a.type) == 4 && !i.has_mode(isa::mode::mx);
        for (unsigned row = tile.row / 32; row < (tile.row + tile.rows) / 32 && row < row_groups;
             ++row) {
            group& g = groups_[row];
            if (i.opcode == isa::opcode::multiply)
                g.matmul += cycles;
            else
                (wide ? g.load : g.fast_load) += cycles;
            const std::uint64_t first = std::max(start, until_[row]), end = start + cycles;
            if (end <= first) continue;
            busy_[row] += end - first;
            until_[row] = end;
        }
    }
    const group& group_of(unsigned row_group) const { return groups_[row_group]; }
    /// Cycles up to `now` in which the row group was busy.
    std::uint64_t busy(unsigned row_group, std::uint64_t now) const {
        const std::uint64_t ahead = until_[row_group] > now ? until_[row_group] - now : 0;
        return busy_[row_group] - std::min(busy_[row_group], ahead);
    }

private:
    std::array<group, row_groups> groups_{};
    std::array<std::uint64_t, row_groups> busy_{}, until_{};
};

}  // namespace trn

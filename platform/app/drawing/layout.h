// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "platform/app/drawing/topology.h"

namespace trn::drawing {

struct point {
    int x = 0, y = 0;
};
struct box {
    int x = 0, y = 0, w = 0, h = 0;

    int right() const { return x + w; }
    int bottom() const { return y + h; }
    point middle() const { return {x + w / 2, y + h / 2}; }
};

/// All cables between two members of a group, drawn as one line.
struct bundle {
    std::uint32_t group = 0, a = 0, b = 0;  ///< parts; a and b are members of the group
    symbol end_a = symbol::nothing, end_b = symbol::nothing;  ///< the devices at the ends
    cable made_of;
    unsigned count = 0;
};

/// Whether a part is a cell of a grid.
inline bool is_cell(symbol shape) {
    return shape == symbol::chip || shape == symbol::group;
}

/// Positions of all parts. Chips and groups are cells of a grid; hosts, switches and cards are
/// bars along its sides: hosts and cards above, switches below, or between two columns of many
/// cells.
class layout {
public:
    explicit layout(const topology& t);

    const box& box_of(std::uint32_t part) const { return boxes_[part]; }
    const std::vector<bundle>& bundles() const { return bundles_; }
    bool upright(std::uint32_t part) const { return upright_[part]; }

    static constexpr int padding = 10, title = 18;

private:
    struct cells {
        std::vector<std::uint32_t> parts;
        std::size_t columns = 1;
        bool snake = false;  ///< a ring: every other row runs from right to left
        bool down = false;   ///< fills columns first
        int gap_x = 10, gap_y = 10, w = 0, h = 0;

        std::size_t rows() const { return (parts.size() + columns - 1) / columns; }
        std::pair<std::size_t, std::size_t> place(std::size_t i) const;  ///< column, row
    };

    void gather();
    std::uint32_t member_towards(std::uint32_t part, std::uint32_t group) const;
    cells arrange(std::uint32_t group) const;
    std::vector<std::vector<std::size_t>> neighbours(
        std::uint32_t group, const std::vector<std::uint32_t>& members) const;
    bool joined(std::uint32_t part, symbol partner) const;
    void size(std::uint32_t group);
    void move(std::uint32_t part, int dx, int dy);

    const topology& t_;
    std::vector<box> boxes_;
    std::vector<bool> upright_;
    std::vector<bundle> bundles_;
    std::map<std::uint32_t, std::vector<std::size_t>> of_group_;  // indices of bundles_
};

}  // namespace trn::drawing

// SPDX-License-Identifier: Apache-2.0
#include "platform/app/drawing/layout.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace trn::drawing {

namespace {

constexpr int chip_width = 52, chip_height = 30;
constexpr int bar = 24;           // thickness of a bar
constexpr int upright_bar = 40;   // thickness of a bar between two columns
constexpr int bar_gap = 18;       // between a bar and the cells
constexpr int mesh_gap = 26;      // room for the arcs of a torus
constexpr int group_gap_x = 150;  // room for the label of a connection between groups
constexpr int group_gap_y = 46;
constexpr std::size_t max_in_row = 4;
constexpr std::size_t max_in_bar = 8;  // cards or switches

}  // namespace

layout::layout(const topology& t) : t_(t), boxes_(t.parts.size()), upright_(t.parts.size()) {
    gather();
    size(0);
}

// --- Ends of lines

std::uint32_t layout::member_towards(std::uint32_t part, std::uint32_t group) const {
    while (t_.parts[part].parent != group) part = t_.parts[part].parent;
    return part;
}

void layout::gather() {
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::string>, std::size_t> known;
    for (const auto& c : t_.connections) {
        auto a = c.a, b = c.b;
        if (a == b) continue;
        auto up = a, other = b;
        while (t_.depth(up) > t_.depth(other)) up = t_.parts[up].parent;
        while (t_.depth(other) > t_.depth(up)) other = t_.parts[other].parent;
        while (up != other) up = t_.parts[up].parent, other = t_.parts[other].parent;
        auto first = member_towards(a, up), second = member_towards(b, up);
        if (first > second) std::swap(first, second), std::swap(a, b);
        const auto [place, fresh] =
            known.try_emplace({first, second, c.made_of.text}, bundles_.size());
        if (fresh) {
            of_group_[up].push_back(bundles_.size());
            bundles_.push_back(
                {up, first, second, t_.parts[a].shape, t_.parts[b].shape, c.made_of, 0});
        }
        ++bundles_[place->second].count;
    }
}

std::vector<std::vector<std::size_t>> layout::neighbours(
    std::uint32_t group, const std::vector<std::uint32_t>& members) const {
    std::map<std::uint32_t, std::size_t> index;
    for (std::size_t i = 0; i < members.size(); ++i) index[members[i]] = i;
    std::vector<std::set<std::size_t>> found(members.size());
    if (const auto list = of_group_.find(group); list != of_group_.end())
        for (const auto bundle : list->second) {
            const auto a = index.find(bundles_[bundle].a), b = index.find(bundles_[bundle].b);
            if (a == index.end() || b == index.end()) continue;
            found[a->second].insert(b->second);
            found[b->second].insert(a->second);
        }
    std::vector<std::vector<std::size_t>> all;
    for (const auto& indices : found) all.emplace_back(indices.begin(), indices.end());
    return all;
}

/// Whether a connection in `part`'s group leads from `part` to a part with the symbol `partner`.
bool layout::joined(std::uint32_t part, symbol partner) const {
    const auto list = of_group_.find(t_.parts[part].parent);
    return list != of_group_.end() &&
           std::any_of(list->second.begin(), list->second.end(), [&](std::size_t bundle) {
               const auto& b = bundles_[bundle];
               return (b.a == part && t_.parts[b.b].shape == partner) ||
                      (b.b == part && t_.parts[b.a].shape == partner);
           });
}

// --- Grid of a group

std::pair<std::size_t, std::size_t> layout::cells::place(std::size_t i) const {
    if (down) return {i / rows(), i % rows()};
    const auto row = i / columns, column = i % columns;
    return {snake && row % 2 == 1 ? columns - 1 - column : column, row};
}

layout::cells layout::arrange(std::uint32_t group) const {
    cells made;
    for (const auto m : t_.parts[group].members)
        if (is_cell(t_.parts[m].shape)) made.parts.push_back(m);
    const auto n = made.parts.size();
    bool groups = false;
    for (const auto p : made.parts) {
        groups |= t_.parts[p].shape == symbol::group;
        made.w = std::max(made.w, boxes_[p].w);
        made.h = std::max(made.h, boxes_[p].h);
    }
    const auto near = neighbours(group, made.parts);
    const bool mesh =
        std::any_of(near.begin(), near.end(), [](const auto& indices) { return !indices.empty(); });
    made.columns = std::max<std::size_t>(1, std::min(n, max_in_row));
    if (mesh) {
        made.gap_x = groups ? group_gap_x : mesh_gap;
        made.gap_y = groups ? group_gap_y : mesh_gap;
        made.snake = n > 3 && std::all_of(near.begin(), near.end(),
                                          [](const auto& indices) { return indices.size() == 2; });
        if (made.snake) {
            made.columns = (n + 1) / 2;
        } else {  // a torus: the row length is the distance to the first neighbour in another row
            for (const auto d : near[0])
                if (d > 1 && n % d == 0) {
                    made.columns = d;
                    break;
                }
        }
    } else if (n > max_in_row) {
        made.columns = 2;
        made.down = true;
    }
    return made;
}

// --- Sizes and positions, from the inside out: a group is laid out at 0, 0 and moved later.

void layout::move(std::uint32_t part, int dx, int dy) {
    boxes_[part].x += dx;
    boxes_[part].y += dy;
    for (const auto m : t_.parts[part].members) move(m, dx, dy);
}

void layout::size(std::uint32_t group) {
    const auto& members = t_.parts[group].members;
    for (const auto m : members) {
        if (t_.parts[m].shape == symbol::group)
            size(m);
        else
            boxes_[m] = {0, 0, chip_width, chip_height};
    }
    const auto grid = arrange(group);
    const auto columns =
        static_cast<int>(std::min(grid.columns, std::max<std::size_t>(1, grid.parts.size())));
    std::vector<std::uint32_t> above, below, between;
    for (const auto m : members) {
        const auto shape = t_.parts[m].shape;
        if (is_cell(shape)) continue;
        if (shape != symbol::crossing || joined(m, symbol::host))
            above.push_back(m);
        else if (grid.down)
            between.push_back(m);
        else
            below.push_back(m);
    }
    // Cards are drawn above the host, the host's switches below it.
    std::stable_sort(above.begin(), above.end(), [&](auto a, auto b) {
        const auto rank = [&](std::uint32_t p) {
            const auto shape = t_.parts[p].shape;
            return shape == symbol::card ? 0 : shape == symbol::host ? 1 : 2;
        };
        return rank(a) < rank(b);
    });

    const int middle = static_cast<int>(between.size()) * (upright_bar + bar_gap) +
                       (between.empty() ? 0 : bar_gap);
    const int inner =
        columns * grid.w + (columns - 1) * grid.gap_x + (between.empty() ? 0 : middle - grid.gap_x);
    const int margin = grid.gap_x == mesh_gap ? mesh_gap / 2 : 0;
    const int width = std::max(inner + 2 * margin, 3 * chip_width);
    int y = title;
    for (std::size_t i = 0; i < above.size(); ++i) {
        // Parts with the same symbol share rows.
        std::size_t row = 1;
        while (row < max_in_bar && i + row < above.size() &&
               t_.parts[above[i + row]].shape == t_.parts[above[i]].shape)
            ++row;
        const int gap = 6, each = (width - static_cast<int>(row - 1) * gap) / static_cast<int>(row);
        for (std::size_t k = 0; k < row; ++k)
            boxes_[above[i + k]] = {padding + static_cast<int>(k) * (each + gap), y, each, bar};
        i += row - 1;
        y += bar + bar_gap;
    }
    y += margin;
    const int left = padding + (width - inner) / 2;
    const int top = y;
    for (std::size_t i = 0; i < grid.parts.size(); ++i) {
        const auto [column, row] = grid.place(i);
        const auto c = static_cast<int>(column), r = static_cast<int>(row);
        const int beside = !between.empty() && c > 0 ? middle - grid.gap_x : 0;
        move(grid.parts[i], left + c * (grid.w + grid.gap_x) + beside,
             top + r * (grid.h + grid.gap_y));
    }
    const auto rows = static_cast<int>(grid.parts.empty() ? 0 : grid.rows());
    const int height = rows * grid.h + std::max(0, rows - 1) * grid.gap_y;
    for (std::size_t i = 0; i < between.size(); ++i) {
        boxes_[between[i]] = {
            left + grid.w + bar_gap + static_cast<int>(i) * (upright_bar + bar_gap), top,
            upright_bar, height};
        upright_[between[i]] = true;
    }
    y += height + margin;
    for (const auto b : below) {
        boxes_[b] = {padding, y + bar_gap, width, bar};
        y += bar_gap + bar;
    }
    boxes_[group] = {0, 0, width + 2 * padding, y + padding};
}

}  // namespace trn::drawing

// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/netlist/plan/address_map.h"

#include <algorithm>
#include <utility>

namespace trn {

namespace {

bool decodes(const plan::module& m) {
    return m.built_as != nullptr && std::ranges::any_of(m.built_as->ports, &port::ranged);
}

}  // namespace

class flattener {
public:
    explicit flattener(const address_maps& maps) : maps_(maps), board_(maps.board_) {}

    /// Writes out the rows of `router` visible in `seen`, a window of its addresses, at the
    /// window's addresses.
    void write_out(std::uint32_t router, const plan::range& seen,
                   const std::vector<config::node>& through) {
        inside_.push_back(router);
        for (const auto& row : maps_.own(router)) {
            if (rows.size() >= address_maps::max_rows) break;
            const auto& w = row.window;
            const auto first = std::max(w.base, seen.target_base);
            const auto last = std::min(w.base + (w.size - 1), seen.target_base + (seen.size - 1));
            if (first > last) continue;
            const plan::range shown{seen.base + (first - seen.target_base), last - first + 1,
                                    w.target_base + (first - w.base)};
            auto path = through;
            path.push_back(row.through.front());
            descend(row.target, shown, std::move(path));
        }
        inside_.pop_back();
    }

    std::vector<map_row> rows;

private:
    void descend(const plan::endpoint& first_target, const plan::range& shown,
                 std::vector<config::node> path) {
        const auto target = through_links(first_target);
        if (!decodes(board_.modules[target.module]))
            rows.push_back({shown, target, std::move(path)});
        else if (std::ranges::find(inside_, target.module) == inside_.end())
            write_out(target.module, shown, path);
    }

    /// The endpoint of accesses forwarded unchanged by blocks such as links. Bounded: links could
    /// form a ring.
    plan::endpoint through_links(plan::endpoint target) const {
        for (int hops = 0; hops < 16; ++hops) {
            const auto& type = *board_.modules[target.module].built_as;
            const auto& name = type.ports[target.port].leads_to;
            if (name.empty() || type.ports[target.port].shift) break;
            const auto next = maps_.leads_to_.find({target.module, *type.find_port(name)});
            if (next == maps_.leads_to_.end()) break;
            target = next->second;
        }
        return target;
    }

    const address_maps& maps_;
    const plan& board_;
    std::vector<std::uint32_t> inside_;
};

address_maps::address_maps(const plan& board) : board_(board) {
    for (const auto& b : board.bindings)
        if (b.window)
            windows_[b.source.module].push_back(&b);
        else
            leads_to_.emplace(port_of{b.source.module, b.source.port}, b.target);
}

std::vector<std::uint32_t> address_maps::routers() const {
    std::vector<std::uint32_t> list;
    for (std::uint32_t i = 0; i < board_.modules.size(); ++i)
        if (decodes(board_.modules[i])) list.push_back(i);
    return list;
}

std::vector<map_row> address_maps::own(std::uint32_t router) const {
    std::vector<map_row> rows;
    if (const auto found = windows_.find(router); found != windows_.end())
        for (const auto* b : found->second) rows.push_back({*b->window, b->target, {b->node}});
    std::ranges::sort(rows, {}, [](const map_row& row) { return row.window.base; });
    return rows;
}

std::vector<map_row> address_maps::flattened(std::uint32_t router) const {
    flattener out(*this);
    const auto everything = plan::range{0, 0, 0};  // 2^64 bytes
    out.write_out(router, everything, {});
    return std::move(out.rows);
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#include "platform/netlist/address_map.h"

#include <algorithm>
#include <map>
#include <utility>

namespace trn {

namespace {

constexpr std::size_t most_rows = 100'000;

bool decodes(const plan::module& m) {
    return m.built_as != nullptr && std::any_of(m.built_as->ports.begin(), m.built_as->ports.end(),
                                                [](const port& p) { return p.ranged; });
}

class flattener {
public:
    explicit flattener(const plan& board) : board_(board) {
        for (const auto& b : board.bindings)
            if (!b.window) behind_.emplace(std::pair{b.from.module, b.from.port}, b.to);
    }

    /// Rows of `router` that show in `seen`, a window of its addresses, moved to where the window
    /// stands.
    void write_out(std::uint32_t router, const plan::range& seen,
                   const std::vector<config::node>& through) {
        inside_.push_back(router);
        for (const auto& row : address_map(board_, router)) {
            if (rows.size() >= most_rows) break;
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
        else if (std::find(inside_.begin(), inside_.end(), target.module) == inside_.end())
            write_out(target.module, shown, std::move(path));
    }

    /// Where an access ends that blocks pass on unchanged. Bounded: links could form a ring.
    plan::endpoint through_links(plan::endpoint target) const {
        for (int hops = 0; hops < 16; ++hops) {
            const auto& type = *board_.modules[target.module].built_as;
            const auto& name = type.ports[target.port].leads_to;
            if (name.empty()) break;
            const auto next = behind_.find({target.module, *type.find_port(name)});
            if (next == behind_.end()) break;
            target = next->second;
        }
        return target;
    }

    const plan& board_;
    std::map<std::pair<std::uint32_t, std::size_t>, plan::endpoint> behind_;
    std::vector<std::uint32_t> inside_;
};

}  // namespace

std::vector<map_row> address_map(const plan& board, std::uint32_t router) {
    std::vector<map_row> rows;
    for (const auto& b : board.bindings)
        if (b.window && b.from.module == router) rows.push_back({*b.window, b.to, {b.where}});
    std::sort(rows.begin(), rows.end(),
              [](const map_row& a, const map_row& b) { return a.window.base < b.window.base; });
    return rows;
}

std::vector<map_row> flattened_map(const plan& board, std::uint32_t router) {
    flattener out(board);
    const auto everything = plan::range{0, 0, 0};  // 2^64 bytes
    out.write_out(router, everything, {});
    return out.rows;
}

std::vector<std::uint32_t> routers(const plan& board) {
    std::vector<std::uint32_t> list;
    for (std::uint32_t i = 0; i < board.modules.size(); ++i)
        if (decodes(board.modules[i])) list.push_back(i);
    return list;
}

}  // namespace trn

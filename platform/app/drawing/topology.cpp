// SPDX-License-Identifier: Apache-2.0
#include "platform/app/drawing/topology.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace trn::drawing {

namespace {

constexpr auto none = topology::none;

bool is_whole(symbol shape) {
    return shape == symbol::chip || shape == symbol::card;
}

/// Converts modules into parts, and remembers the part of each module.
class reader {
public:
    reader(const plan& board, const vocabulary& words) : board_(board), words_(words) {
        owner_.assign(board.modules.size(), none);
        out_.parts.push_back({"", board.name, "", "", symbol::group, none, {}});
    }

    topology read() {
        for (std::uint32_t m = 0; m < board_.modules.size(); ++m) add(m);
        connect();
        return without_empty_groups();
    }

private:
    std::uint32_t parent_of(std::uint32_t m) const {
        const auto parent = board_.modules[m].parent;
        return parent == plan::none ? 0 : owner_[parent];
    }

    void add(std::uint32_t m) {
        const auto& module = board_.modules[m];
        const auto parent = parent_of(m);
        if (parent == none) return;
        if (is_whole(out_.parts[parent].shape)) {
            owner_[m] = parent;
            return;
        }
        const auto shape = words_.symbol_of(module);
        if (shape == symbol::nothing || shape == symbol::cable) return;
        owner_[m] = static_cast<std::uint32_t>(out_.parts.size());
        out_.parts[parent].members.push_back(owner_[m]);
        out_.parts.push_back({module.path,
                              module.name,
                              module.type,
                              words_.note_of(board_, module),
                              shape,
                              parent,
                              {}});
    }

    void connect() {
        struct ends {
            std::array<std::uint32_t, 2> part{none, none};
            unsigned found = 0;
        };
        std::vector<ends> cables(board_.modules.size());
        for (const auto& b : board_.bindings) {
            if (role_of(b.source) != port_role::plug) continue;
            const auto first = owner_[b.source.module], second = owner_[b.target.module];
            if (first != none && second != none) {
                out_.connections.push_back({first, second, {}});
                continue;
            }
            if (first == none && second == none) continue;  // a cable inside a cable
            const auto wire = first == none ? b.source.module : b.target.module;
            auto& seen = cables[wire];
            if (seen.found < 2) seen.part[seen.found++] = first == none ? second : first;
            if (seen.found == 2)
                out_.connections.push_back(
                    {seen.part[0], seen.part[1], words_.cable_of(board_, board_.modules[wire])});
        }
    }

    port_role role_of(const plan::endpoint& end) const {
        return board_.modules[end.module].built_as->ports[end.port].role;
    }

    topology without_empty_groups() {
        for (auto i = out_.parts.size(); i-- > 0;) {
            auto& members = out_.parts[i].members;
            std::erase_if(members, [&](std::uint32_t m) {
                return out_.parts[m].shape == symbol::group && out_.parts[m].members.empty();
            });
        }
        return std::move(out_);
    }

    const plan& board_;
    const vocabulary& words_;
    std::vector<std::uint32_t> owner_;  // part of each module
    topology out_;
};

std::string dot_id(const topology::part& p) {
    return fmt::format("\"{}\"", p.path);
}

void write_group(const topology& t, std::uint32_t index, int depth, std::string& out) {
    const auto& group = t.parts[index];
    const std::string indent(static_cast<std::size_t>(2 * depth), ' ');
    for (const auto m : group.members) {
        const auto& p = t.parts[m];
        if (p.shape == symbol::group) {
            out += fmt::format("{}subgraph \"cluster_{}\" {{\n{}  label=\"{}\";\n", indent, p.path,
                               indent, p.name);
            write_group(t, m, depth + 1, out);
            out += indent + "}\n";
        } else {
            const auto* shape = p.shape == symbol::chip ? "box" : "box, style=rounded";
            out += fmt::format("{}{} [label=\"{}{}{}\", shape={}];\n", indent, dot_id(p), p.name,
                               p.note.empty() ? "" : "\\n", p.note, shape);
        }
    }
}

}  // namespace

std::size_t topology::count(symbol shape) const {
    return static_cast<std::size_t>(
        std::count_if(parts.begin(), parts.end(), [&](const auto& p) { return p.shape == shape; }));
}

unsigned topology::depth(std::uint32_t part) const {
    unsigned groups = 0;
    for (; part != 0; part = parts[part].parent) ++groups;
    return groups;
}

topology read_topology(const plan& board, const vocabulary& words) {
    return reader(board, words).read();
}

std::string rate_text(std::uint64_t bytes_per_second) {
    const auto giga = static_cast<double>(bytes_per_second) / 1e9;
    return giga >= 1000 ? fmt::format("{:.4g} TB/s", giga / 1000)
                        : fmt::format("{:.4g} GB/s", giga);
}

std::string to_dot(const plan& board, const topology& t) {
    std::string out =
        fmt::format("graph \"{}\" {{\n  node [fontname=\"sans-serif\"];\n", board.name);
    write_group(t, 0, 1, out);
    for (const auto& c : t.connections) {
        const auto& [text, rate] = c.made_of;
        out += fmt::format("  {} -- {}", dot_id(t.parts[c.a]), dot_id(t.parts[c.b]));
        if (!text.empty())
            out += fmt::format(" [label=\"{}{}\"]", text, rate == 0 ? "" : "\\n" + rate_text(rate));
        out += ";\n";
    }
    return out + "}\n";
}

}  // namespace trn::drawing

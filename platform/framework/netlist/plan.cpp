// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/netlist/plan.h"

#include <fmt/format.h>

#include "platform/framework/netlist/module_planner.h"

namespace trn {

namespace {

/// FNV-1a over text, so that a board has one digest on every host.
class hash {
public:
    void add(std::string_view text) {
        for (const char c : text) byte(static_cast<unsigned char>(c));
        byte(0);
    }
    void add(std::uint64_t number) { add(fmt::format("{:x}", number)); }
    std::uint64_t value() const { return value_; }

private:
    void byte(unsigned char b) { value_ = (value_ ^ b) * 0x100000001b3; }
    std::uint64_t value_ = 0xcbf29ce484222325;
};

std::uint64_t digest_of(const plan& board) {
    hash all;
    for (const auto& m : board.modules) {
        all.add(m.path);
        if (m.built_as == nullptr) continue;
        all.add(m.built_as->name);
        for (const auto& [name, value] : board.parameters_of(m)) all.add(name), all.add(value);
    }
    for (const auto& b : board.bindings) {
        all.add(board.text(b.from));
        all.add(board.text(b.to));
        if (!b.window) continue;
        all.add(b.window->base);
        all.add(b.window->size);
        all.add(b.window->target_base);
    }
    return all.value();
}

plan finish(planning& all, const assembly& board, const kind_list& kinds,
            const plan_options& options) {
    module_planner(all, kinds, options).plan_all(board);
    all.result.problems->throw_if_any();
    plan& made = all.result;
    made.name = board.name;
    made.description = board.description;
    for (std::uint32_t i = 0; i < made.modules.size(); ++i)
        made.by_path.emplace(made.modules[i].path, i);
    made.digest = digest_of(made);
    return std::move(made);
}

}  // namespace

std::string place_text(const config::node& where) {
    return fmt::format("{}:{}", where.file(), where.where().line);
}

std::uint32_t plan::index_of(std::string_view path) const {
    const auto found = by_path.find(path);
    return found == by_path.end() ? none : found->second;
}

const plan::module* plan::find(std::string_view path) const {
    const auto index = index_of(path);
    return index == none ? nullptr : &modules[index];
}

std::string plan::text(const endpoint& end) const {
    const port& p = port_of(end);
    const bool numbered = p.count || p.lines;
    return fmt::format("{}.{}{}", module_of(end).path, p.name,
                       numbered ? fmt::format("[{}]", end.index) : "");
}

std::string plan::local_text(const endpoint& end) const {
    const module& m = module_of(end);
    return text(end).substr(m.path.size() - m.name.size());
}

std::vector<std::pair<std::string, std::string>> plan::parameters_of(const module& m) const {
    if (m.built_as == nullptr) return m.parameters;
    std::vector<std::pair<std::string, std::string>> list;
    for (const auto& p : m.built_as->parameters) list.emplace_back(p.name, p.show(m.config));
    return list;
}

plan plan_board(const std::filesystem::path& file, const kind_list& kinds,
                const plan_options& options) {
    planning all;
    const auto board = read_assembly(config::document::load(file, *all.result.problems),
                                     file.parent_path(), file_role::board);
    all.result.file = file;
    return finish(all, board, kinds, options);
}

plan plan_text(std::string text, std::string name, const kind_list& kinds,
               const plan_options& options) {
    planning all;
    all.result.file = name;
    const auto board = read_assembly(
        config::document::parse(std::move(text), std::move(name), *all.result.problems), ".",
        file_role::board);
    return finish(all, board, kinds, options);
}

}  // namespace trn

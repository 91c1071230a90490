// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/netlist/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace trn {

std::optional<config::refusal> unknown_modules(const plan& board, std::string_view pattern) {
    // Modules match in the part before the last dot: their inner modules are suggested.
    const auto dot = pattern.rfind('.');
    const auto outer = pattern.substr(0, dot == pattern.npos ? 0 : dot);
    std::set<std::string_view> inner;
    for (const auto& m : board.modules) {
        if (misuse::is_at(pattern, m.path)) return std::nullopt;
        const bool is_beside =
            std::ranges::count(m.path, '.') == std::ranges::count(pattern, '.') &&
            misuse::is_at(outer, m.path);
        if (is_beside) inner.insert(m.name);
    }
    const std::vector<std::string_view> names(inner.begin(), inner.end());
    return config::refusal{mistake::unknown_module,
                           fmt::format("the board has no module '{}'", pattern),
                           suggest(pattern.substr(outer.empty() ? 0 : dot + 1), names)};
}

std::string place_text(const config::node& node) {
    return fmt::format("{}:{}", node.file(), node.place().line);
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

std::string plan::parameter_of(const module& m, std::string_view name) const {
    if (m.built_as != nullptr) {
        const auto* const p = m.built_as->find_parameter(name);
        return p == nullptr ? "" : p->show(m.config);
    }
    const auto found =
        std::ranges::find(m.parameters, name, &decltype(m.parameters)::value_type::first);
    return found == m.parameters.end() ? "" : found->second;
}

}  // namespace trn

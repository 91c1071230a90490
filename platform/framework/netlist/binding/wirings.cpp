// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/netlist/binding/wirings.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "platform/framework/netlist/binding/end_resolver.h"

namespace trn {

namespace {

/// Adds the name of each ${name} in the texts of `node`.
void add_variables(const config::node& node, std::vector<std::string>& names) {
    if (node.is_map()) {
        for (const auto& e : node.entries()) add_variables(e.value, names);
    } else if (node.is_list()) {
        for (const auto& item : node.items()) add_variables(item, names);
    } else {
        std::string_view text = node.raw();
        for (auto start = text.find("${"); start != text.npos; start = text.find("${")) {
            text.remove_prefix(start + 2);
            names.emplace_back(text.substr(0, text.find('}')));
        }
    }
}

}  // namespace

const wiring* wirings::find(const scope& here) {
    const auto description = description_of(here);
    if (!description) return nullptr;
    const auto found = by_description_.find(*description);
    if (found == by_description_.end() || !has_ends(known_[found->second], here.container))
        return nullptr;
    by_container_.emplace(here.container, found->second);
    return &known_[found->second];
}

void wirings::keep(const scope& here, wiring made) {
    const auto description = description_of(here);
    if (!description || !by_description_.emplace(*description, known_.size()).second) return;
    by_container_.emplace(here.container, known_.size());
    known_.push_back(std::move(made));
}

/// Equal for equal instances; nullopt if a part has no known wiring.
std::optional<std::string> wirings::description_of(const scope& here) {
    const auto& modules = all_.result.modules;
    auto text = fmt::format("{}", fmt::ptr(here.file));
    for (std::size_t m = here.container + 1; m < modules.size(); m = modules[m].end) {
        const auto& part = modules[m];
        if (part.built_as != nullptr) {
            text += fmt::format(" {}={}", part.name, part.built_as->name);
            continue;
        }
        const auto wired = by_container_.find(static_cast<std::uint32_t>(m));
        if (wired == by_container_.end()) return std::nullopt;
        text += fmt::format(" {}={}", part.name, wired->second);
    }
    for (const auto& name : variables_of(*here.file)) {
        const auto value = std::ranges::find(here.values, name, &variables::value_type::first);
        if (value != here.values.end())  // with its length: it may contain anything
            text += fmt::format(" {}:{}", value->second.size(), value->second);
    }
    return text;
}

/// Names of the variables that affect the wiring; also of counters.
const std::vector<std::string>& wirings::variables_of(const assembly& file) {
    const auto [known, is_new] = variables_.try_emplace(&file);
    if (is_new)
        for (const char* part : {"bind", "ports"})
            add_variables(file.root().find(part), known->second);
    return known->second;
}

/// Vectors of sockets may be smaller than in the earlier instance.
bool wirings::has_ends(const wiring& known, std::uint32_t container) const {
    const auto has = [&](const plan::endpoint& end) {
        const plan::endpoint here{end.module + container, end.port, end.index};
        return end.index <
               elements_of(all_.result.port_of(here), all_.result.module_of(here).config);
    };
    return std::ranges::all_of(
               known.lines,
               [&](const auto& l) { return has(l.source) && (!l.target || has(*l.target)); }) &&
           std::ranges::all_of(known.ports, [&](const auto& p) { return has(p.inner); });
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/netlist/binding/end_resolver.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace trn {

namespace {

constexpr std::uint64_t max_sockets = 1u << 20;

bool has_lines(const port& p) {
    return p.role == port_role::irq_in && !p.count;
}

std::string end_text(const bind_line::end& end) {
    return end.module + "." + end.port + (end.index ? fmt::format("[{}]", *end.index) : "");
}

}  // namespace

std::uint64_t sockets_of(const port& p, const std::any& config) {
    return p.count ? std::min(p.count(config), max_sockets) : 1;
}

std::uint64_t elements_of(const port& p, const std::any& config) {
    return has_lines(p) && p.lines ? std::min(p.lines(config), max_sockets) : sockets_of(p, config);
}

std::optional<plan::endpoint> end_resolver::find(const scope& here, const bind_line::end& end,
                                                 const config::node& node) {
    const auto found = here.modules.find(end.module);
    if (found == here.modules.end()) {
        if (here.is_broken(end.module)) return std::nullopt;
        all_.report(node, mistake::unknown_module, fmt::format("no module '{}' here", end.module),
                    [&] {
                        std::vector<std::string> names;
                        for (const auto& [name, index] : here.modules) names.push_back(name);
                        std::sort(names.begin(), names.end());
                        return suggest(end.module, names);
                    });
        return std::nullopt;
    }
    if (all_.result.modules[found->second].built_as == nullptr)
        return resolve_shown(here, found->second, end, node);
    return resolve_port(found->second, end, node);
}

std::optional<plan::endpoint> end_resolver::resolve_port(std::uint32_t module,
                                                         const bind_line::end& end,
                                                         const config::node& node) {
    const kind& type = *all_.result.modules[module].built_as;
    if (const auto index = type.find_port(end.port))
        return pick({module, static_cast<std::uint32_t>(*index), 0}, end, node);
    all_.report(node, mistake::unknown_port,
                fmt::format("{} '{}' has no '{}'", type.name, end.module, end.port),
                [&] { return suggest(end.port, names_of(type.ports)); });
    return std::nullopt;
}

std::optional<plan::endpoint> end_resolver::resolve_shown(const scope& here, std::uint32_t module,
                                                          const bind_line::end& end,
                                                          const config::node& node) {
    const auto& shown = ports_[module];
    if (const auto found = shown.find(end.port); found != shown.end()) {
        if (!end.index) return found->second;
        return pick(found->second, end, node);
    }
    if (here.is_broken(end.module)) return std::nullopt;
    all_.report(node, mistake::unknown_port,
                fmt::format("{} '{}' has no port '{}'", all_.result.modules[module].type,
                            end.module, end.port),
                [&] {
                    std::vector<std::string> names;
                    for (const auto& [name, inner] : shown) names.push_back(name);
                    return suggest(end.port, names);
                });
    return std::nullopt;
}

/// Selects the interrupt line or vector element named by `end`.
std::optional<plan::endpoint> end_resolver::pick(plan::endpoint found, const bind_line::end& end,
                                                 const config::node& node) {
    const port& p = all_.result.port_of(found);
    const auto size = elements_of(p, all_.result.module_of(found).config);
    const auto index = end.index.value_or(0);
    if (!end.index && p.count)
        all_.report(node, mistake::line_outside,
                    fmt::format("'{}' has {} sockets: give an index, '{}[0]'", end_text(end), size,
                                end_text(end)));
    else if (end.index && !p.count && !has_lines(p))
        all_.report(node, mistake::line_outside,
                    fmt::format("'{}.{}' is one {}, without [..]", end.module, end.port,
                                to_string(p.role)));
    else if (index >= size)
        all_.report(node, mistake::line_outside,
                    fmt::format("'{}': there are {}, counted from 0", end_text(end), size));
    else {
        found.index = static_cast<std::uint32_t>(index);
        return found;
    }
    return std::nullopt;
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/netlist/foreign_ends.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string_view>

#include "platform/framework/log_text.h"
#include "platform/framework/netlist/binding/end_resolver.h"
#include "platform/framework/netlist/kinds/foreign_end.h"

namespace trn {

bool is_foreign(const kind& type) {
    return std::ranges::any_of(type.ports, [](const port& p) { return p.foreign != nullptr; });
}

std::string text_of(const sc_core::sc_report& why) {
    return log::one_line(fmt::format("{}: {}", why.get_msg_type(), why.get_msg()));
}

const std::unordered_set<std::uint64_t>& foreign_ends::bound() {
    if (!bound_) {
        bound_.emplace();
        for (const auto& b : board_.bindings)
            for (const plan::endpoint& end : {b.source, b.target})
                if (board_.port_of(end).foreign) bound_->insert(end.key());
    }
    return *bound_;
}

bool foreign_ends::add(std::uint32_t index, sc_core::sc_module& module) {
    const plan::module& m = board_.modules[index];
    const auto& ports = m.built_as->ports;
    for (std::uint32_t p = 0; p < ports.size(); ++p) {
        const foreign_end* const foreign = ports[p].foreign.get();
        if (foreign == nullptr) continue;
        const auto count = static_cast<std::uint32_t>(sockets_of(ports[p], m.config));
        for (std::uint32_t i = 0; i < count; ++i) {
            const plan::endpoint end{index, p, i};
            if (!foreign->is_always_bound() && !bound().contains(end.key())) continue;
            const auto name = fmt::format("{}_{}{}", m.name, ports[p].name,
                                          ports[p].count ? fmt::format("_{}", i) : "");
            auto made = foreign->make(module, i, unused_name(m, name));
            if (made.end == nullptr) return false;
            ends_[end.key()] = made.end;
            std::ranges::move(made.parts, std::back_inserter(parts_));
        }
    }
    return true;
}

/// `name`, or with a number after it, so that no part has the name of a module of the board or of a
/// part of another end.
std::string foreign_ends::unused_name(const plan::module& m, const std::string& name) {
    if (names_.empty())
        for (const plan::module& each : board_.modules) names_.insert(each.path);
    const auto scope = m.path.substr(0, m.path.size() - m.name.size());
    const auto is_used = [&](const std::string& tried) {
        return std::ranges::any_of(foreign_end::part_suffixes, [&](std::string_view suffix) {
            return names_.contains(fmt::format("{}{}{}", scope, tried, suffix));
        });
    };
    auto unused = name;
    for (unsigned n = 2; is_used(unused); ++n) unused = fmt::format("{}_{}", name, n);
    for (const auto suffix : foreign_end::part_suffixes)
        names_.insert(fmt::format("{}{}{}", scope, unused, suffix));
    return unused;
}

const plan::module* foreign_ends::named_by(const sc_core::sc_report& why) const {
    const std::string_view text = why.get_msg();
    const auto is_word = [&](std::size_t index) {
        return index < text.size() &&
               (text[index] == '_' || std::isalnum(static_cast<unsigned char>(text[index])) != 0);
    };
    const plan::module* found = nullptr;
    for (const plan::module& m : board_.modules) {
        if (m.built_as == nullptr || !is_foreign(*m.built_as)) continue;
        const auto begin = text.find(m.path);
        const bool is_named = begin != text.npos && (begin == 0 || !is_word(begin - 1)) &&
                              !is_word(begin + m.path.size());
        if (is_named && (found == nullptr || found->path.size() < m.path.size())) found = &m;
    }
    return found;
}

void foreign_ends::clear() {
    ends_.clear();
    while (!parts_.empty()) parts_.pop_back();
}

}  // namespace trn

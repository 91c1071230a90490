// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <systemc>

#include "platform/framework/kernel/introspection.h"
#include "platform/framework/kernel/watched_signals.h"

/// Names of signals, which finders and lists of them share.
namespace trn::signal_patterns {

inline constexpr std::string_view of_transactions = ".transactions";

/// Matches part by part: '*' does not match a dot.
inline bool matches(const std::string& wild, std::string name) {
    std::string pattern = wild;
    std::ranges::replace(pattern, '.', '/');
    std::ranges::replace(name, '.', '/');
    return fnmatch(pattern.c_str(), name.c_str(), FNM_PATHNAME | FNM_CASEFOLD) == 0;
}

/// The first parts of a name: as many as `parts` has; nothing if it has no more.
inline std::optional<std::string> first_parts(std::string_view name, std::string_view parts) {
    std::size_t end = 0;
    for (auto dots = 1 + std::ranges::count(parts, '.'); dots > 0; --dots) {
        end = name.find('.', end == 0 ? 0 : end + 1);
        if (end == name.npos) return std::nullopt;
    }
    return std::string(name.substr(0, end));
}

/// Whether names inside the module may match.
inline bool may_match_inside(std::string_view wild, std::string_view module) {
    const auto begin = first_parts(wild, module);
    return begin && matches(*begin, std::string(module));
}

/// Calls `visit` with each module that publishes signals, and its list with full names.
inline void for_each_published(
    const std::function<bool(std::string_view module)>& is_wanted,
    const std::function<void(const sc_core::sc_object&, signal_list&)>& visit) {
    for_each_module<publishes_signals>([&](const auto& object, auto& module) {
        if (!is_wanted(object.name())) return;
        signal_list list;
        module.publish_signals(list);
        for (auto& signal : list.all)
            signal.path = fmt::format("{}.{}", object.name(), signal.path);
        for (auto& track : list.tracks)
            track = track.empty() ? object.name() : fmt::format("{}.{}", object.name(), track);
        visit(object, list);
    });
}

}  // namespace trn::signal_patterns

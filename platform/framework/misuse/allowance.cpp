// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/misuse/allowance.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "platform/framework/config/units.h"
#include "platform/framework/config/wildcards.h"
#include "platform/framework/log.h"

namespace trn::misuse {

namespace {

std::vector<used_allowance>& all_allowances() {
    static std::vector<used_allowance> all;
    return all;
}

/// Removes the first part of a name with dots, and returns it.
std::string_view take_part(std::string_view& name) {
    const auto part = name.substr(0, name.find('.'));
    name.remove_prefix(std::min(part.size() + 1, name.size()));
    return part;
}

}  // namespace

bool is_at(std::string_view pattern, std::string_view module) {
    while (!pattern.empty()) {
        if (module.empty() || !matches_wildcards(take_part(pattern), take_part(module)))
            return false;
    }
    return true;
}

bool allowance::covers(std::string_view module, std::uint64_t now_ps) const {
    return now_ps >= from_ps && now_ps < until_ps && is_at(modules, module);
}

bool allowance::covers_place(std::string_view software) const {
    const auto open = std::min(software.rfind(" ("), software.size());
    if (!function.empty() && software.substr(0, open) != function) return false;
    if (file.empty()) return true;
    const auto source = software.substr(open);  // " (path:line)"
    const auto end = fmt::format("{}:{})", file, line);
    return source.ends_with("/" + end) || source == " (" + end;
}

std::string allowance::subject() const {
    auto text = fmt::format("{} {}", broken.id, broken.name);
    if (!modules.empty()) text += " at " + modules;
    if (!function.empty()) text += " in " + function;
    if (!file.empty()) text += fmt::format(" in {}:{}", file, line);
    return text;
}

std::string allowance::text() const {
    auto text = fmt::format("rule={}", broken.id);
    if (!modules.empty()) text += ",at=" + modules;
    if (!function.empty()) text += ",function=" + function;
    if (!file.empty()) text += fmt::format(",line={}:{}", file, line);
    if (from_ps != 0) text += ",from=" + to_string(picoseconds{from_ps});
    if (until_ps != any) text += ",until=" + to_string(picoseconds{until_ps});
    if (count != any) text += fmt::format(",count={}", count);
    return text + ",reason=" + reason;
}

void allow(allowance added) {
    all_allowances().push_back({std::move(added)});
}

std::span<const used_allowance> allowances() {
    return all_allowances();
}

bool use_allowance(const rule& broken, std::string_view module, std::string (*place)()) {
    std::optional<std::string> software;
    for (auto& [allowance, used] : all_allowances()) {
        if (!(allowance.broken == broken) || used == allowance.count ||
            !allowance.covers(module, log::now_ps()))
            continue;
        if (allowance.needs_place()) {
            if (!software) software = place();
            if (!allowance.covers_place(*software)) continue;
        }
        ++used;
        return true;
    }
    return false;
}

void clear_allowed_counts() {
    for (auto& used : all_allowances()) used.count = 0;
}

}  // namespace trn::misuse

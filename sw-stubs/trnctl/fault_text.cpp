// SPDX-License-Identifier: Apache-2.0
#include "sw-stubs/trnctl/fault_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace trn {

namespace {

using json = nlohmann::json;

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/// "chip*.hbm*" for "chip0.hbm3".
std::string pattern_of(const std::string& name) {
    std::string pattern;
    for (const char c : name)
        if (!is_digit(c))
            pattern += c;
        else if (!pattern.ends_with('*'))
            pattern += '*';
    return pattern;
}

/// Patterns for the names, in their order; a name that is alone with its pattern stays as it is.
std::vector<std::string> patterns_of(const std::vector<std::string>& names) {
    struct group {
        std::string pattern, first;
        std::size_t names = 0;
    };
    std::vector<group> groups;
    for (const auto& name : names) {
        auto pattern = pattern_of(name);
        auto found = std::ranges::find(groups, pattern, &group::pattern);
        if (found == groups.end())
            found = groups.insert(groups.end(), {std::move(pattern), name, 0});
        ++found->names;
    }
    std::vector<std::string> patterns;
    for (auto& each : groups)
        patterns.push_back(each.names == 1 ? std::move(each.first) : std::move(each.pattern));
    return patterns;
}

std::string argument_text(const json& argument) {
    const auto standard =
        argument.at("required").get<bool>()
            ? std::string("required")
            : fmt::format("default {}", argument.at("default").get<std::string>());
    return fmt::format("      {:<11} {}, {}; {}: {}", argument.at("name").get<std::string>(),
                       argument.at("type").get<std::string>(),
                       argument.at("range").get<std::string>(), standard,
                       argument.at("meaning").get<std::string>());
}

}  // namespace

std::string faulty_modules_text(const json& group) {
    const auto modules = group.at("modules").get<std::vector<std::string>>();
    const auto type = group.at("type").get<std::string>();
    return fmt::format("{}  ({}{})", fmt::join(patterns_of(modules), ", "), type,
                       modules.size() > 1 ? fmt::format(", {} modules", modules.size()) : "");
}

std::string fault_text(const json& fault) {
    auto text = fmt::format("  {}: {}", fault.at("fault").get<std::string>(),
                            fault.at("description").get<std::string>());
    for (const auto& argument : fault.at("arguments")) text += "\n" + argument_text(argument);
    return text;
}

}  // namespace trn

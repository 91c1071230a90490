// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/selection/where_clause.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "platform/framework/config/diagnostics.h"
#include "platform/framework/config/wildcards.h"

namespace trn::scenario {

namespace {

using value_list = std::vector<std::string>;

/// "16 MiB" and "16mib" are the same value.
std::string folded(std::string_view text) {
    std::string all;
    for (const char c : text)
        if (c != ' ') all += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return all;
}

/// The values of the key in this scenario: a parameter of the matrix may be called `board` too.
value_list values_of(const scenario& run, const std::string& key) {
    value_list all;
    for (const auto& [name, value] : run.point)
        if (name == key) all.push_back(value);
    if (key == "board") all.push_back(run.board);
    if (key == "file") all.push_back(std::filesystem::path(run.file).filename().string());
    if (key == "tag") all.insert(all.end(), run.tags.begin(), run.tags.end());
    return all;
}

value_list once_each(value_list all) {
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

value_list keys_of(std::span<const scenario> all) {
    value_list keys{"board", "file", "tag"};
    for (const auto& run : all)
        for (const auto& [name, value] : run.point) keys.push_back(name);
    return once_each(std::move(keys));
}

}  // namespace

where_clause where_clause::parse(const std::string& text) {
    const auto equals = text.find('=');
    if (equals == text.npos || equals == 0 || equals + 1 == text.size())
        throw std::invalid_argument(
            fmt::format("'{}' is not KEY=VALUE, such as board=trn3-chip or size=64KiB", text));
    return {text.substr(0, text.find_last_not_of(' ', equals - 1) + 1), text.substr(equals + 1)};
}

bool where_clause::selects(const scenario& run) const {
    return std::ranges::any_of(values_of(run, key), [&](const auto& has) {
        return matches_wildcards(folded(value), folded(has));
    });
}

bool selected(std::span<const where_clause> clauses, const scenario& run) {
    return std::ranges::all_of(clauses, [&](const where_clause& each) {
        return std::ranges::any_of(clauses, [&](const where_clause& other) {
            return other.key == each.key && other.selects(run);
        });
    });
}

void check(const where_clause& clause, std::span<const scenario> all) {
    if (std::ranges::any_of(all, [&](const auto& run) { return clause.selects(run); })) return;
    const auto keys = keys_of(all);
    if (std::ranges::find(keys, clause.key) == keys.end())
        throw std::invalid_argument(
            fmt::format("--where: no scenario has a parameter '{}' in its matrix  {}", clause.key,
                        suggest(clause.key, keys)));
    value_list values;
    for (const auto& run : all)
        for (auto& value : values_of(run, clause.key)) values.push_back(std::move(value));
    throw std::invalid_argument(fmt::format("--where: no scenario has the {} '{}'  {}", clause.key,
                                            clause.value,
                                            suggest(clause.value, once_each(std::move(values)))));
}

}  // namespace trn::scenario

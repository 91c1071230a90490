// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/misuse/policy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "platform/framework/config/diagnostics.h"

namespace trn::misuse {

namespace {

// In the order of the enumerators.
constexpr std::array<std::string_view, 3> words{"count", "log", "fail"};

policy parse_policy(std::string_view word) {
    const auto found = std::ranges::find(words, word);
    if (found == words.end())
        throw std::invalid_argument(
            fmt::format("there is no misuse policy '{}'  {}", word, suggest(word, words)));
    return static_cast<policy>(found - words.begin());
}

rule parse_rule(std::string_view word) {
    if (const auto found = find(word)) return *found;
    throw std::invalid_argument(
        fmt::format("there is no misuse rule '{}'  {}", word, suggest_rule(word)));
}

}  // namespace

policy_choice policy_choice::parse(std::string_view text) {
    const auto colon = text.find(':');
    policy_choice choice{parse_policy(text.substr(0, colon))};
    if (colon == std::string_view::npos) return choice;
    for (auto rest = text.substr(colon + 1);;) {
        const auto comma = rest.find(',');
        choice.rules.push_back(parse_rule(rest.substr(0, comma)));
        if (comma == std::string_view::npos) return choice;
        rest.remove_prefix(comma + 1);
    }
}

std::string policy_choice::text() const {
    std::string text(to_string(chosen));
    for (const auto& rule : rules)
        text += fmt::format("{}{}", &rule == &rules.front() ? ':' : ',', rule.id);
    return text;
}

void policy_choice::apply() const {
    if (rules.empty()) set_policy_of_all(chosen);
    for (const auto& rule : rules) set_policy(rule, chosen);
}

std::string_view to_string(policy chosen) {
    return words[static_cast<std::size_t>(chosen)];
}

std::string suggest_rule(std::string_view word) {
    std::vector<std::string_view> known;
    const bool id = word.starts_with("TRN-");
    for (const auto& rule : rules()) known.push_back(id ? rule.id : rule.name);
    return suggest(word, known);
}

void choices::add(const choices& more) {
    policies.insert(policies.end(), more.policies.begin(), more.policies.end());
    checked.insert(checked.end(), more.checked.begin(), more.checked.end());
    allowances.insert(allowances.end(), more.allowances.begin(), more.allowances.end());
}

void choices::apply() const {
    for (const auto& choice : policies) choice.apply();
    for (const auto& rule : checked) set_policy(rule, policy_of(rule));
    for (const auto& allowance : allowances) allow(allowance);
}

}  // namespace trn::misuse

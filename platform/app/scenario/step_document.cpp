// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "platform/app/scenario/schema.h"
#include "platform/app/scenario/step_kinds.h"
#include "platform/app/scenario/step_table.h"

namespace trn::scenario {

namespace {

/// Text of a key: "`size` (1 MiB): of each copy".
std::string text_of(const step_key& key) {
    auto text = fmt::format("`{}`", key.name);
    if (!key.otherwise.empty()) text += fmt::format(" ({})", key.otherwise);
    if (!key.instead.empty()) text += fmt::format(" unless `{}`", fmt::join(key.instead, "`, `"));
    std::vector<std::string> notes;
    if (!key.choices.empty()) notes.push_back(fmt::format("{}", fmt::join(key.choices, "/")));
    if (key.shape == value_shape::choices) notes.emplace_back("one or a list");
    if (key.shape == value_shape::condition) notes.emplace_back("a condition");
    if (key.shape == value_shape::steps) notes.emplace_back("steps");
    if (!key.doc.empty()) notes.emplace_back(key.doc);
    return notes.empty() ? text : fmt::format("{}: {}", text, fmt::join(notes, "; "));
}

std::string keys_of(const step_kind& kind) {
    using enum step_kind::form;
    switch (kind.written) {
    case mapping:
        break;
    case word:
        return fmt::format("`{}: NAME`", kind.name);
    case condition:
        return "a condition (below)";
    case time_or_condition:
        return fmt::format("`{}: 10 us`, or a condition (below)", kind.name);
    case branches:
        return "a mapping of lists of steps";
    }
    std::string needed, others;
    for (const auto& key : kind.keys) {
        auto& part = key.needed ? needed : others;
        part += (part.empty() ? "" : ", ") + text_of(key);
    }
    if (others.empty()) return needed;
    return fmt::format("{}{}[{}]", needed, needed.empty() ? "" : " ", others);
}

}  // namespace

std::string step_document() {
    std::string table = "| Step | Keys (default) | Effect |\n|---|---|---|\n";
    for (const auto& kind : step_kinds())
        table += fmt::format("| `{}` | {} | {} |\n", kind.name, keys_of(kind), kind.doc);
    return table;
}

}  // namespace trn::scenario

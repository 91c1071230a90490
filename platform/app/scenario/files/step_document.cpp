// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/files/step_document.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>

#include <utility>
#include <vector>

#include "platform/app/scenario/conditions/condition.h"
#include "platform/app/scenario/steps/step_kinds.h"

namespace trn::scenario {

namespace {

using nlohmann::ordered_json;

std::string_view text_of(value_shape shape) {
    switch (shape) {
    case value_shape::text:
        return "text";
    case value_shape::texts:
        return "text, or a list of texts";
    case value_shape::number:
        return "number";
    case value_shape::numbers:
        return "list of numbers";
    case value_shape::real:
        return "real number";
    case value_shape::flag:
        return "true or false";
    case value_shape::choice:
        return "one of";
    case value_shape::choices:
        return "one or a list of";
    case value_shape::size:
        return "size, as `64 KiB`";
    case value_shape::offset:
        return "number of bytes, or size";
    case value_shape::time:
        return "time, as `10 us`";
    case value_shape::rate:
        return "rate, as `1 GB/s`";
    case value_shape::place:
        return "place, as `hbm0@1 MiB`";
    case value_shape::map:
        return "mapping";
    case value_shape::condition:
        return "condition";
    case value_shape::steps:
        return "list of steps";
    }
    return "";
}

std::string type_of(const step_key& key) {
    if (key.choices.empty()) return std::string(text_of(key.shape));
    return fmt::format("{} `{}`", text_of(key.shape), fmt::join(key.choices, "`, `"));
}

/// "required", "required unless `value`", or the default; "": the key has none.
std::string default_of(const step_key& key) {
    if (key.needed && key.instead.empty()) return "required";
    if (key.needed) return fmt::format("required unless `{}`", fmt::join(key.instead, "`, `"));
    return key.otherwise;
}

/// How the value of a step that is not a mapping of its own keys is written; "": it is.
std::string value_of(const step_kind& kind) {
    using enum step_kind::form;
    switch (kind.written) {
    case mapping:
        return "";
    case word:
        return fmt::format("`{}: NAME`", kind.name);
    case condition:
        return "a condition";
    case time_or_condition:
        return fmt::format("`{}: 10 us`, or a condition", kind.name);
    case branches:
        return "a mapping of lists of steps";
    }
    return "";
}

/// The keys of the step, or of the condition that its value is.
std::vector<step_key> keys_of(const step_kind& kind) {
    using enum step_kind::form;
    const bool is_condition = kind.written == condition || kind.written == time_or_condition;
    return is_condition ? shown(condition_keys()) : kind.keys;
}

/// Links of Markdown as places in doc/: "[programs](programs.md)" becomes "doc/programs.md".
std::string without_links(std::string_view text) {
    static const RE2 link(R"(\[[^\]]*\]\(([^)#]*)[^)]*\))");
    std::string plain(text);
    RE2::GlobalReplace(&plain, link, "doc/\\1");
    return plain;
}

}  // namespace

std::string step_text(const step_kind& kind) {
    std::string text = fmt::format("{}: {}\n", kind.name, without_links(kind.doc));
    if (const auto value = value_of(kind); !value.empty())
        text += fmt::format("  written {}\n", value);
    for (const auto& key : keys_of(kind)) {
        std::vector<std::string> notes{type_of(key)};
        if (const auto otherwise = default_of(key); !otherwise.empty())
            notes.push_back(key.needed ? otherwise : "default " + otherwise);
        if (!key.beside.empty())
            notes.push_back(fmt::format("only with `{}`", fmt::join(key.beside, "`, `")));
        if (!key.apart.empty())
            notes.push_back(fmt::format("not with `{}`", fmt::join(key.apart, "`, `")));
        const auto about = fmt::format("({})", fmt::join(notes, "; "));
        if (key.doc.empty())
            text += fmt::format("  {:20} {}\n", key.name, about);
        else
            text += fmt::format("  {:20} {}\n  {:20} {}\n", key.name, without_links(key.doc), "",
                                about);
    }
    return text;
}

ordered_json steps_json() {
    auto all = ordered_json::array();
    for (const auto& kind : step_kinds()) {
        auto keys = ordered_json::array();
        for (const auto& key : keys_of(kind))
            keys.push_back({{"name", key.name},
                            {"type", type_of(key)},
                            {"default", default_of(key)},
                            {"only_with", key.beside},
                            {"not_with", key.apart},
                            {"doc", key.doc}});
        all.push_back({{"name", kind.name},
                       {"doc", kind.doc},
                       {"value", value_of(kind)},
                       {"keys", std::move(keys)}});
    }
    return all;
}

}  // namespace trn::scenario

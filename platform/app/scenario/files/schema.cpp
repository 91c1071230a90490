// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/files/schema.h"

#include <string>
#include <utility>
#include <vector>

#include "platform/app/scenario/conditions/condition.h"
#include "platform/app/scenario/language/step_table.h"
#include "platform/app/scenario/steps/step_kinds.h"

namespace trn::scenario {

namespace {

using nlohmann::json;

/// Every value may contain `${name}`.
constexpr auto replaced = "\\$\\{";

json text_like(const std::string& form) {
    return {{"type", "string"}, {"pattern", form + "|" + replaced}};
}

json number_or(const json& text) {
    return {{"anyOf", json::array({{{"type", "integer"}}, text})}};
}

json reference(const std::string& name) {
    return {{"$ref", "#/$defs/" + name}};
}

json one_or_list(const json& item) {
    return {{"anyOf", json::array({item, {{"type", "array"}, {"items", item}}})}};
}

json shape_of(value_shape shape) {
    const auto number = text_like("^[-+]?(0[xX][0-9a-fA-F_]+|0b[01_]+|[0-9_]+)$");
    auto size = text_like("^[0-9._]+ ?([kKMGT]i?)?B$");
    json text = {{"type", json::array({"string", "number", "boolean"})}};
    switch (shape) {
    case value_shape::text:
        return text;
    case value_shape::texts:
        return one_or_list(text);
    case value_shape::number:
        return number_or(number);
    case value_shape::numbers:
        return {{"type", "array"}, {"items", number_or(number)}};
    case value_shape::real:
        return {{"type", json::array({"number", "string"})}};
    case value_shape::flag:
        return {{"anyOf", json::array({{{"type", "boolean"}}, text_like(replaced)})}};
    case value_shape::size:
        return size;
    case value_shape::offset:
        return number_or({{"anyOf", json::array({number, size})}});
    case value_shape::time:
        return text_like("^[0-9._]+ ?[pnum]?s$");
    case value_shape::rate:
        return text_like("^[0-9._]+ ?[kKMGT]?i?(B|bit)/s$");
    case value_shape::place:
        return text_like("^(host|hbm[0-9]|sbuf[0-9]+|axi)(@.*)?$");
    case value_shape::map:
        return {{"type", "object"}};
    case value_shape::condition:
        return reference("condition");
    case value_shape::steps:
        return reference("steps");
    case value_shape::choice:
    case value_shape::choices:
        break;  // of_key() adds the allowed words
    }
    return json::object();
}

json one_of(const std::vector<std::string_view>& names) {
    return {{"anyOf", json::array({{{"enum", names}}, text_like(replaced)})}};
}

json of_key(const step_key& key) {
    json property = key.choices.empty() ? shape_of(key.shape) : one_of(key.choices);
    if (key.shape == value_shape::choices) property = one_or_list(property);
    if (!key.doc.empty()) property["description"] = key.doc;
    return property;
}

json mapping(json properties, const json& required = json::array()) {
    json all{
        {"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
    if (!required.empty()) all["required"] = required;
    return all;
}

json of_keys(const std::vector<step_key>& keys) {
    json properties = json::object(), required = json::array();
    for (const auto& key : keys) {
        properties[std::string(key.name)] = of_key(key);
        if (key.needed && key.instead.empty()) required.push_back(key.name);
    }
    return mapping(properties, required);
}

json of_kind(const step_kind& kind) {
    using enum step_kind::form;
    switch (kind.written) {
    case mapping:
        break;
    case word:
        return shape_of(value_shape::text);
    case condition:
        return reference("condition");
    case time_or_condition:
        return {{"anyOf", json::array({shape_of(value_shape::time), reference("condition")})}};
    case branches:
        return {{"type", "object"}, {"additionalProperties", reference("steps")}};
    }
    return of_keys(kind.keys);
}

json step_schema() {
    json kinds = json::object(), one_of = json::array();
    for (const auto& kind : step_kinds()) {
        auto& property = kinds[std::string(kind.name)] = of_kind(kind);
        if (!kind.doc.empty()) property["description"] = kind.doc;
        one_of.push_back({{"required", {kind.name}}});
    }
    kinds["fails"] = shape_of(value_shape::text);
    kinds["saying"] = shape_of(value_shape::text);
    kinds["may_fail"] = one_or_list(shape_of(value_shape::text));
    auto step = mapping(kinds);
    step["oneOf"] = one_of;
    return step;
}

json misuse_schema() {
    const auto text = shape_of(value_shape::text), time = shape_of(value_shape::time);
    const auto allowance = mapping({{"rule", text},
                                    {"at", text},
                                    {"function", text},
                                    {"line", text},
                                    {"from", time},
                                    {"until", time},
                                    {"count", shape_of(value_shape::number)},
                                    {"reason", text}},
                                   json::array({"rule", "reason"}));
    return {{"anyOf",
             json::array({text, mapping({{"policy", text},
                                         {"allow", {{"type", "array"}, {"items", allowance}}}})})}};
}

}  // namespace

json schema() {
    const auto text = shape_of(value_shape::text);
    const auto list = [](const json& items) { return json{{"type", "array"}, {"items", items}}; };
    const json sequence = mapping(
        {{"parameters", shape_of(value_shape::map)}, {"steps", shape_of(value_shape::steps)}},
        json::array({"steps"}));
    auto file = mapping({{"scenario", text},
                         {"tags", list(text)},
                         {"board", text},
                         {"set", shape_of(value_shape::map)},
                         {"firmware", text},
                         {"seed", shape_of(value_shape::number)},
                         {"time_limit", shape_of(value_shape::time)},
                         {"wall_limit", shape_of(value_shape::time)},
                         {"memory_limit", shape_of(value_shape::offset)},
                         {"misuse", misuse_schema()},
                         {"matrix", {{"type", "object"}, {"additionalProperties", list(text)}}},
                         {"include", list(text)},
                         {"sequences", {{"type", "object"}, {"additionalProperties", sequence}}},
                         {"setup", shape_of(value_shape::steps)},
                         {"steps", shape_of(value_shape::steps)},
                         {"expectations", shape_of(value_shape::steps)}});
    file["anyOf"] = json::array(
        {{{"required", {"scenario", "board", "steps"}}}, {{"required", {"sequences"}}}});
    file["$schema"] = "https://json-schema.org/draft/2020-12/schema";
    file["title"] = "trnvp scenario";
    file["$defs"] = {{"steps", list(step_schema())},
                     {"condition", of_keys(shown(condition_keys()))}};
    return file;
}

}  // namespace trn::scenario

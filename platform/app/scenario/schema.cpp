// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/schema.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "platform/app/scenario/action.h"
#include "platform/app/scenario/condition.h"

namespace trn::scenario {

namespace {

using nlohmann::json;

/// Anything may be `${name}`, within a word or alone.
constexpr auto replaced = "\\$\\{";

json text_like(const std::string& form) {
    return {{"type", "string"}, {"pattern", form + "|" + replaced}};
}

json number_or(const json& text) {
    return {{"anyOf", json::array({{{"type", "integer"}}, text})}};
}

json shape_of(value_shape shape) {
    const auto number = text_like("^[-+]?(0[xX][0-9a-fA-F_]+|0b[01_]+|[0-9_]+)$");
    auto size = text_like("^[0-9._]+ ?([kKMGT]i?)?B$");
    json text = {{"type", json::array({"string", "number", "boolean"})}};
    switch (shape) {
    case value_shape::text:
        return text;
    case value_shape::texts:
        return {{"anyOf", json::array({text, {{"type", "array"}, {"items", text}}})}};
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
    case value_shape::list:
        return {{"type", "array"}};
    }
    return json::object();
}

/// What one call of a reader tells.
class notes final : public key_notes {
public:
    json properties = json::object();
    std::set<std::string> demanded;

    /// Before each call: which keys seem to be there.
    void begin(std::optional<std::string> only_this, bool every) {
        there_ = std::move(only_this);
        every_ = every;
        chosen_ = false;
        demanded.clear();
    }
    bool has(std::string_view key) const override { return every_ || there_ == key; }
    void only(std::initializer_list<std::string_view> keys) override {
        for (const auto key : keys) properties.emplace(key, json::object());
    }
    void note(std::string_view key, value_shape shape, bool demands) override {
        add(key, shape_of(shape), demands);
    }
    void note(std::string_view key, std::vector<std::string_view> choices) override {
        add(key, {{"anyOf", json::array({{{"enum", choices}}, text_like(replaced)})}}, true);
        chosen_ = true;
    }

private:
    /// What is demanded after a choice may depend on it.
    void add(std::string_view key, const json& shape, bool demands) {
        auto& known = properties[std::string(key)];
        if (known.empty())
            known = shape;
        else if (known != shape &&
                 (!known.contains("anyOf") ||
                  std::ranges::find(known["anyOf"], shape) == known["anyOf"].end()))
            known = {{"anyOf", json::array({known, shape})}};
        if (demands && !chosen_) demanded.emplace(key);
    }

    std::optional<std::string> there_;
    bool every_ = false, chosen_ = false;
};

json mapping(json properties, const std::set<std::string>& required = {}) {
    json all{
        {"type", "object"}, {"properties", std::move(properties)}, {"additionalProperties", false}};
    if (!required.empty()) all["required"] = required;
    return all;
}

json keys_of(const std::function<void(const reader&)>& read) {
    const parameters none;
    notes told;
    std::optional<std::set<std::string>> always;
    const auto call = [&](const std::optional<std::string>& key, bool every) {
        told.begin(key, every);
        read(reader(told, none));
        std::set<std::string> both;
        if (always)
            std::ranges::set_intersection(*always, told.demanded, std::inserter(both, both.end()));
        always = always ? both : told.demanded;
    };
    call({}, false);
    if (told.properties.contains("")) return told.properties[""];  // no mapping
    call({}, true);
    std::vector<std::string> keys;
    for (const auto& [key, _] : told.properties.items()) keys.push_back(key);
    for (const auto& key : keys) call(key, false);
    return mapping(told.properties, *always);
}

json reference(const std::string& name) {
    return {{"$ref", "#/$defs/" + name}};
}

json figure_keys() {
    const auto bound = json{{"type", json::array({"number", "string"})}};
    auto keys = keys_of([](const reader& r) { read_number(r); })["properties"];
    keys.update({{"name", shape_of(value_shape::text)},
                 {"unit", shape_of(value_shape::text)},
                 {"time_of", reference("steps")},
                 {"bytes", shape_of(value_shape::size)},
                 {"value", shape_of(value_shape::real)},
                 {"at_least", bound},
                 {"at_most", bound}});
    return mapping(keys, {"name"});
}

json step_schema() {
    json kinds = json::object();
    for (const auto& kind : step_kinds())
        kinds[std::string(kind.name)] = keys_of([&](const reader& r) { kind.read(r); });
    kinds["inject"]["properties"]["when"] = reference("condition");
    kinds["wait"] = {{"anyOf", json::array({shape_of(value_shape::time), reference("condition")})}};
    kinds["figure"] = figure_keys();
    kinds["sequence"] = mapping(
        {{"name", shape_of(value_shape::text)}, {"with", shape_of(value_shape::map)}}, {"name"});
    kinds["together"] = {{"type", "object"}, {"additionalProperties", reference("steps")}};
    json one_of = json::array();
    for (const auto& [name, _] : kinds.items()) one_of.push_back({{"required", {name}}});
    kinds["fails"] = shape_of(value_shape::text);
    kinds["saying"] = shape_of(value_shape::text);
    auto step = mapping(kinds);
    step["oneOf"] = one_of;
    return step;
}

}  // namespace

json schema() {
    const auto text = shape_of(value_shape::text);
    const auto list = [](const json& items) { return json{{"type", "array"}, {"items", items}}; };
    const json sequence = mapping(
        {{"parameters", shape_of(value_shape::map)}, {"steps", reference("steps")}}, {"steps"});
    auto file = mapping({{"scenario", text},
                         {"tags", list(text)},
                         {"board", text},
                         {"set", shape_of(value_shape::map)},
                         {"firmware", text},
                         {"seed", shape_of(value_shape::number)},
                         {"time_limit", shape_of(value_shape::time)},
                         {"wall_limit", shape_of(value_shape::time)},
                         {"memory_limit", shape_of(value_shape::offset)},
                         {"misuse", text},
                         {"matrix", {{"type", "object"}, {"additionalProperties", list(text)}}},
                         {"include", list(text)},
                         {"sequences", {{"type", "object"}, {"additionalProperties", sequence}}},
                         {"steps", reference("steps")},
                         {"expectations", reference("steps")}});
    file["anyOf"] = json::array(
        {{{"required", {"scenario", "board", "steps"}}}, {{"required", {"sequences"}}}});
    file["$schema"] = "https://json-schema.org/draft/2020-12/schema";
    file["title"] = "trnvp scenario";
    file["$defs"] = {{"steps", list(step_schema())},
                     {"condition", keys_of([](const reader& r) { read_condition(r, 0); })}};
    return file;
}

}  // namespace trn::scenario

// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/inspection/parameters.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "platform/framework/config/units.h"
#include "platform/framework/netlist/document/assembly.h"

namespace trn {

using nlohmann::json;

namespace {

template <class T, class Convert>
json number_of(const config::parsed<T>& parsed, std::string_view text, Convert convert) {
    const auto* const value = std::get_if<T>(&parsed);
    return value == nullptr ? json(text) : json(convert(*value));
}

struct form {
    std::string_view type, unit;
    json (*read)(std::string_view text);
};

constexpr std::array forms{
    form{"number", "",
         [](std::string_view t) {
             return number_of(config::parse_unsigned(t), t, [](std::uint64_t v) { return v; });
         }},
    form{"address", "",
         [](std::string_view t) {
             return number_of(config::parse_unsigned(t), t, [](std::uint64_t v) { return v; });
         }},
    form{"real number", "",
         [](std::string_view t) {
             return number_of(config::parse_real(t), t, [](double v) { return v; });
         }},
    form{"true or false", "", [](std::string_view t) { return json(t == "true"); }},
    form{"size", "B",
         [](std::string_view t) {
             return number_of(config::parse_bytes(t), t, [](bytes v) { return v.value; });
         }},
    form{"time", "ps",
         [](std::string_view t) {
             return number_of(config::parse_time(t), t, [](picoseconds v) { return v.value; });
         }},
    form{"data rate", "B/s",
         [](std::string_view t) {
             return number_of(config::parse_data_rate(t), t,
                              [](data_rate v) { return v.bytes_per_second; });
         }},
    form{"lane rate", "T/s",
         [](std::string_view t) {
             return number_of(config::parse_lane_rate(t), t,
                              [](lane_rate v) { return v.transfers_per_second; });
         }},
    form{"frequency", "Hz",
         [](std::string_view t) {
             return number_of(config::parse_frequency(t), t, [](hertz v) { return v.value; });
         }},
};

constexpr std::string_view list_of = "list of ";

/// The type of the items, without the plural's "s"; of a single value the type itself.
std::string_view item_type(std::string_view type) {
    if (!type.starts_with(list_of)) return type;
    type.remove_prefix(list_of.size());
    type.remove_suffix(1);
    return type;
}

/// nullptr: text, or a choice.
const form* find_form(std::string_view type) {
    const auto* found = std::ranges::find(forms, item_type(type), &form::type);
    return found == forms.end() ? nullptr : found;
}

json read_list(std::string_view type, std::string_view text) {
    json list = json::array();
    text.remove_prefix(std::min(text.find('[') + 1, text.size()));
    text = text.substr(0, text.rfind(']'));
    while (!text.empty()) {
        const auto end = text.find(", ");
        list.push_back(parameter_value(item_type(type), text.substr(0, end)));
        text = end == text.npos ? std::string_view() : text.substr(end + 2);
    }
    return list;
}

std::pair<std::string_view, std::string_view> split(std::string_view name) {
    const auto dot = name.rfind('.');
    if (dot == name.npos) return {{}, name};
    return {name.substr(0, dot), name.substr(dot + 1)};
}

}  // namespace

json parameter_value(std::string_view type, std::string_view text) {
    if (type.starts_with(list_of)) return read_list(type, text);
    const auto* const known = find_form(type);
    return known == nullptr ? json(text) : known->read(text);
}

// --- One parameter

std::string parameter_handle::type() const {
    return declared_ != nullptr ? declared_->type : std::string(value_type(text()));
}

std::string parameter_handle::description() const {
    if (declared_ != nullptr) return declared_->doc;
    return module_ == nullptr ? "parameter of the board"
                              : fmt::format("parameter of {}", module_->type);
}

std::string_view parameter_handle::owner_type() const {
    return module_ == nullptr ? std::string_view() : std::string_view(module_->type);
}

std::string_view parameter_handle::unit() const {
    const auto* const known = find_form(type());
    return known == nullptr ? std::string_view() : known->unit;
}

std::string parameter_handle::text() const {
    return declared_ != nullptr ? declared_->show(module_->config) : *file_value_;
}

json parameter_handle::value() const {
    return parameter_value(type(), text());
}

std::optional<std::string> parameter_handle::default_text() const {
    if (declared_ == nullptr || declared_->required) return std::nullopt;
    return declared_->show(module_->built_as->defaults());
}

json parameter_handle::default_value() const {
    const auto otherwise = default_text();
    return otherwise ? parameter_value(type(), *otherwise) : json();
}

bool parameter_handle::is_default_value() const {
    return default_text() == text();
}

// --- All of them

parameter_broker::parameter_broker(const plan& board, std::string above)
    : board_(board), above_(std::move(above)) {}

std::string parameter_broker::full(std::string_view local) const {
    return fmt::format("{}{}{}", above_, above_.empty() || local.empty() ? "" : ".", local);
}

std::optional<std::string_view> parameter_broker::local(std::string_view name) const {
    if (above_.empty()) return name;
    if (!is_within(above_, name)) return std::nullopt;
    return name.substr(std::min(above_.size() + 1, name.size()));
}

parameter_handle parameter_broker::of_file(const plan::module* module,
                                           const std::pair<std::string, std::string>& given) const {
    parameter_handle made;
    made.module_ = module;
    made.file_value_ = &given.second;
    made.name_ = full(module == nullptr ? given.first : module->path + "." + given.first);
    return made;
}

parameter_handle parameter_broker::of_kind(const plan::module& module,
                                           const parameter& declared) const {
    parameter_handle made;
    made.module_ = &module;
    made.declared_ = &declared;
    made.name_ = full(module.path + "." + declared.name);
    return made;
}

std::optional<parameter_handle> parameter_broker::get_param_handle(std::string_view name) const {
    const auto own = local(name);
    if (!own || own->starts_with('.')) return std::nullopt;
    const auto [path, parameter] = split(*own);
    const plan::module* const module = path.empty() ? nullptr : board_.find(path);
    if (!path.empty() && module == nullptr) return std::nullopt;
    if (module != nullptr && module->built_as != nullptr) {
        const auto* const declared = module->built_as->find_parameter(parameter);
        if (declared == nullptr) return std::nullopt;
        return of_kind(*module, *declared);
    }
    for (const auto& given : module == nullptr ? board_.parameters : module->parameters)
        if (given.first == parameter) return of_file(module, given);
    return std::nullopt;
}

void parameter_broker::add(std::uint32_t index, std::vector<parameter_handle>& all) const {
    const auto& module = board_.modules[index];
    for (const auto& given : module.parameters) all.push_back(of_file(&module, given));
    if (module.built_as == nullptr) return;
    for (const auto& declared : module.built_as->parameters)
        all.push_back(of_kind(module, declared));
}

std::vector<parameter_handle> parameter_broker::get_param_handles(std::string_view module,
                                                                  bool inside) const {
    std::vector<parameter_handle> all;
    const auto own = module.empty() ? std::string_view() : local(module).value_or(module);
    std::uint32_t first = 0;
    auto end = static_cast<std::uint32_t>(board_.modules.size());
    if (own.empty()) {
        for (const auto& given : board_.parameters) all.push_back(of_file(nullptr, given));
        if (!inside) return all;
    } else {
        first = board_.index_of(own);
        if (first == plan::none) return all;
        end = inside ? board_.modules[first].end : first + 1;
    }
    for (; first < end; ++first) add(first, all);
    return all;
}

bool parameter_broker::has_module(std::string_view module) const {
    const auto own = local(module);
    return own && (own->empty() || board_.find(*own) != nullptr);
}

std::vector<std::string> parameter_broker::names() const {
    std::vector<std::string> all;
    for (const auto& given : board_.parameters) all.push_back(full(given.first));
    for (const auto& m : board_.modules) all.push_back(full(m.path));
    return all;
}

// --- Origins

parameter_origins parameter_broker::get_value_origins(std::string_view scope) const {
    if (!board_.read_origins) throw std::runtime_error("the board was made by a program");
    const auto own = scope.empty() ? std::string_view() : local(scope).value_or(scope);
    auto all = board_.read_origins(own);
    for (auto& [name, origin] : all) {
        const auto found = get_param_handle(full(name));
        if (!found || found->text() == origin.text) continue;
        origin = {.given_by = parameter_origin::source::program,
                  .default_text = std::move(origin.default_text),
                  .text = found->text()};
    }
    return all;
}

parameter_origin parameter_broker::get_value_origin(std::string_view name) const {
    auto all = get_value_origins(name);
    const auto found = all.find(local(name).value_or(name));
    if (found == all.end()) throw std::runtime_error(fmt::format("no parameter '{}'", name));
    return std::move(found->second);
}

bool parameter_broker::has_preset_value(std::string_view name) const {
    using enum parameter_origin::source;
    const auto given_by = get_value_origin(name).given_by;
    return given_by == setting || given_by == preset || given_by == command_line;
}

std::optional<json> parameter_broker::get_preset_value(std::string_view name) const {
    const auto found = get_param_handle(name);
    if (!found || !has_preset_value(name)) return std::nullopt;
    return found->value();
}

std::vector<std::string> parameter_broker::referenced(const parameter_handle& parameter,
                                                      const parameter_origin& origin) const {
    std::vector<std::string> all;
    if (origin.given_by != parameter_origin::source::setting || parameter.module_ == nullptr)
        return all;
    const auto parent = parameter.module_->parent;
    const std::string scope =
        parent == plan::none ? std::string() : board_.modules[parent].path + ".";
    std::string_view text = origin.written;
    for (auto start = text.find("${"); start != text.npos; start = text.find("${")) {
        text.remove_prefix(start + 2);
        if (auto name = full(scope + std::string(text.substr(0, text.find('}'))));
            get_param_handle(name))  // not the number of a repetition
            all.push_back(std::move(name));
    }
    return all;
}

json to_json(const parameter_broker& broker, const parameter_handle& parameter,
             const parameter_origins& origins) {
    json row = {{"name", parameter.name()},
                {"type", parameter.type()},
                {"value", parameter.value()},
                {"text", parameter.text()},
                {"unit", parameter.unit()},
                {"description", parameter.description()},
                {"mutable", parameter_handle::is_mutable()}};
    auto otherwise = parameter.default_text();
    const auto found = origins.find(broker.local(parameter.name()).value_or(parameter.name()));
    if (found != origins.end()) {
        const auto& origin = found->second;
        if (!origin.default_text.empty()) otherwise = origin.default_text;
        json& source = row["origin"] = {{"by", to_string(origin.given_by)}};
        if (!origin.file.empty()) {
            source["file"] = origin.file;
            source["line"] = origin.line;
            source["column"] = origin.column;
        }
        if (!origin.written.empty()) source["written"] = origin.written;
        if (auto names = broker.referenced(parameter, origin); !names.empty())
            source["parameters"] = std::move(names);
    }
    if (otherwise) {
        row["default_text"] = *otherwise;
        row["default"] = parameter_value(parameter.type(), *otherwise);
    }
    return row;
}

}  // namespace trn

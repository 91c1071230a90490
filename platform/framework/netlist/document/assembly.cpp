// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/netlist/document/assembly.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace trn {

namespace {

using config::refusal;

constexpr std::size_t longest_value = 4096;

struct value_form {
    std::string_view name;
    std::optional<refusal> (*refused)(std::string_view text);
};

template <auto Parse>
std::optional<refusal> refused_by(std::string_view text) {
    const auto value = Parse(text);
    const auto* why = std::get_if<refusal>(&value);
    return why == nullptr ? std::nullopt : std::optional(*why);
}

std::optional<refusal> refused_as_boolean(std::string_view text) {
    if (text == "true" || text == "false") return std::nullopt;
    return refusal{mistake::not_a_boolean, fmt::format("'{}' is neither true nor false", text), ""};
}

/// The first form that accepts a default determines its parameter's type.
constexpr std::array forms{
    value_form{"number", refused_by<config::parse_unsigned>},
    value_form{"true or false", refused_as_boolean},
    value_form{"size", refused_by<config::parse_bytes>},
    value_form{"time", refused_by<config::parse_time>},
    value_form{"data rate", refused_by<config::parse_data_rate>},
    value_form{"lane rate", refused_by<config::parse_lane_rate>},
    value_form{"frequency", refused_by<config::parse_frequency>},
    value_form{"real number", refused_by<config::parse_real>},
};

/// ${i} and ${j} are counters; other names must differ from them.
bool counts(std::string_view name) {
    return name == "i" || name == "j";
}

std::vector<assembly::declared>::iterator find_parameter(assembly& file, std::string_view name) {
    return std::ranges::find(file.parameters, name, &assembly::declared::name);
}

std::string unknown_parameter_of(const assembly& file, std::string_view name) {
    return fmt::format("'{}' has no parameter '{}'", file.name, name);
}

bool is_too_long(const config::node& map) {
    if (map.size() <= max_settings) return false;
    map.report(mistake::too_many_values, fmt::format("more than {} keys", max_settings));
    return true;
}

void read_choice(assembly& out, const config::node& values, assembly::presets& table,
                 std::string name) {
    auto& [chosen, settings] = table.choices.emplace_back(std::move(name), 0);
    if (is_too_long(values)) return;
    for (const auto& e : values.entries()) {
        const auto known = find_parameter(out, e.key);
        if (known == out.parameters.end()) {
            e.key_node.report(mistake::unknown_parameter, unknown_parameter_of(out, e.key),
                              suggest(e.key, names_of(out.parameters)));
        } else if (!e.value.is_scalar()) {
            e.value.report(mistake::wrong_shape, "a parameter is a single value");
        } else if (const auto why = not_of_type(known->type, e.value.raw())) {
            e.value.report(why->code, why->message, why->suggestion);
        } else {
            settings.push_back({e.key, std::string(e.value.raw()), e.key_node, known->type});
        }
    }
}

void read_presets(assembly& out) {
    const auto list = out.root().find("presets");
    if (!list || is_too_long(list)) return;
    for (const auto& table : list.entries()) {
        if (find_parameter(out, table.key) == out.parameters.end()) {
            table.key_node.report(mistake::unknown_parameter, unknown_parameter_of(out, table.key),
                                  suggest(table.key, names_of(out.parameters)));
            continue;
        }
        auto& made = out.preset_tables.emplace_back(assembly::presets{table.key, {}});
        if (is_too_long(table.value)) continue;
        for (const auto& choice : table.value.entries())
            read_choice(out, choice.value, made, choice.key);
    }
}

void read_parameters(assembly& out) {
    const auto list = out.root().find("parameters");
    if (!list) return;
    if (is_too_long(list)) return;
    for (const auto& entry : list.entries()) {
        const std::string name = entry.key_node.name();
        if (counts(name))
            entry.key_node.report(
                mistake::bad_name,
                fmt::format("'{}' is the number of a repetition, not a parameter", name));
        if (!entry.value.is_scalar())
            entry.value.report(mistake::wrong_shape,
                               "a parameter's default is a single value; its form is its type");
        const auto value = entry.value.raw();
        out.parameters.push_back({name, std::string(value), entry.key_node, value_type(value)});
    }
}

/// `limits: {devices: [1, 16]}`.
void read_limits(assembly& out) {
    const auto list = out.root().find("limits");
    if (!list || is_too_long(list)) return;
    for (const auto& entry : list.entries()) {
        const auto known = find_parameter(out, entry.key);
        if (known == out.parameters.end()) {
            entry.key_node.report(mistake::unknown_parameter, unknown_parameter_of(out, entry.key),
                                  suggest(entry.key, names_of(out.parameters)));
            continue;
        }
        const auto bounds = entry.value.items();
        if (bounds.size() != 2) {
            entry.value.report(mistake::wrong_shape, "limits are a list such as [1, 16]");
            continue;
        }
        known->limits = {bounds[0].as<std::uint64_t>(), bounds[1].as<std::uint64_t>()};
    }
}

}  // namespace

assembly read_assembly(config::document text, std::filesystem::path folder, file_role role) {
    assembly out;
    out.document = std::make_shared<config::document>(std::move(text));
    out.folder = std::move(folder);
    const auto root = out.root();
    if (role == file_role::either)
        role = root.find("assembly") ? file_role::assembly : file_role::board;
    const char* kind_key = role == file_role::board ? "board" : "assembly";
    if (const auto base = root.find("variant_of")) {
        if (role == file_role::board)
            root.only({kind_key, "description", "variant_of", "parameters", "misuse"}, "a variant");
        else
            root.only({kind_key, "description", "variant_of", "parameters"}, "a variant");
        out.variant_of = base.as<std::string>();
    } else if (role == file_role::board)
        root.only(
            {"board", "description", "kinds", "parameters", "limits", "presets", "modules", "bind",
             "ports", "misuse"},
            root.find("scenario") ? "a board (this is a scenario, for trnvp test)" : "a board");
    else
        root.only({"assembly", "description", "kinds", "parameters", "presets", "modules", "bind",
                   "ports"},
                  "an assembly");
    out.name = root.require<std::string>(kind_key);
    out.description = root.get<std::string>("description", "");
    if (const auto misuse = root.find("misuse"); misuse && role == file_role::board)
        out.misuse.push_back(misuse);
    read_parameters(out);
    read_presets(out);
    if (role == file_role::board) read_limits(out);
    return out;
}

void apply_presets(
    const assembly& file, variables& values, std::vector<bool> given,
    const std::function<void(std::size_t, const config::refusal&)>& refuse,
    const std::function<void(const assembly::declared& setting, const std::string& choice)>& note) {
    const auto index_of = [&](std::string_view name) {
        std::size_t i = 0;
        while (file.parameters[i].name != name) ++i;
        return i;
    };
    for (std::size_t i = 0; i < file.parameters.size(); ++i)
        if (file.parameters[i].by_variant) given[i] = true;
    for (const auto& table : file.preset_tables) {
        const auto chooser = index_of(table.chooser);
        const auto& wanted = values[chooser].second;
        const auto chosen = std::find_if(table.choices.begin(), table.choices.end(),
                                         [&](const auto& c) { return c.first == wanted; });
        if (chosen == table.choices.end()) {
            std::vector<std::string> names;
            for (const auto& c : table.choices) names.push_back(c.first);
            refuse(chooser,
                   {mistake::not_a_choice, fmt::format("{}: no preset '{}'", table.chooser, wanted),
                    suggest(wanted, names)});
            continue;
        }
        const auto choice = table.chooser + "=" + wanted;
        for (const auto& setting : chosen->second) {
            const auto i = index_of(setting.name);
            if (given[i]) continue;
            values[i].second = setting.value;
            note(setting, choice);
        }
    }
}

std::string_view value_type(std::string_view text) {
    for (const auto& form : forms)
        if (!form.refused(text)) return form.name;
    return "text";
}

std::optional<refusal> not_of_type(std::string_view type, std::string_view text) {
    for (const auto& form : forms)
        if (form.name == type) return form.refused(text);
    return std::nullopt;
}

config::parsed<std::string> substitute(std::string_view text, const variables& known,
                                       bool explain) {
    std::string out;
    for (;;) {
        const auto start = text.find("${");
        out += text.substr(0, start);
        if (start == std::string_view::npos) return out;
        text.remove_prefix(start + 2);
        const auto end = text.find('}');
        const auto name = text.substr(0, end);
        const auto found = std::ranges::find(known, name, &variables::value_type::first);
        if (end == std::string_view::npos || found == known.end()) {
            std::vector<std::string> names;
            if (explain)
                for (const auto& variable : known) names.push_back(variable.first);
            return refusal{mistake::unknown_variable,
                           name == "i" ? "${i} outside a repetition"
                                       : fmt::format("${{{}}} names no parameter here", name),
                           suggest(name, names)};
        }
        out += found->second;
        text.remove_prefix(end + 1);
        if (out.size() > longest_value)
            return refusal{mistake::out_of_range, "longer than 4096 characters when written out",
                           ""};
    }
}

}  // namespace trn

// SPDX-License-Identifier: Apache-2.0
#include "platform/framework/netlist/expansion/module_planner.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "platform/framework/misuse/allowance_text.h"
#include "platform/framework/netlist/kinds/loaded_kinds.h"

namespace trn {

namespace {

template <class Entries>
auto find_key(const Entries& entries, std::string_view key) {
    return std::ranges::find_if(entries, [&](const auto& e) { return e.key == key; });
}

}  // namespace

void module_planner::plan_all(const assembly& file) {
    plan_.documents.push_back(file.document);
    const auto board = files_.whole(file, all_.open ? file_role::either : file_role::board);
    if (!board) return;
    scope top;
    top.file = &*board;
    const auto before = plan_.problems->list().size();
    top.values = board_values(*board);
    plan_.parameters = top.values;
    const bool refused = plan_.problems->list().size() != before;
    if (refused && !options_.set.empty()) return;  // the errors may be due to the values set
    inside_.push_back(&*board);
    expand(top);
    bindings_.check_whole();
    read_misuse(*board, top.values);
}

/// `misuse: {allow: [...]}`, of the board and its variants.
void module_planner::read_misuse(const assembly& board, const variables& known) {
    const bool complete = plan_.problems->empty();
    const auto text = [&](const config::node& value) { return all_.text(value, known); };
    const auto fault = [&](std::string_view modules) {
        return complete ? unknown_modules(plan_, modules) : std::nullopt;
    };
    for (const auto& key : board.misuse) {
        if (!key.is_map()) {
            key.report(mistake::wrong_shape, "'misuse' of a board is a mapping with 'allow'");
            continue;
        }
        key.only({"allow"}, "'misuse' of a board");
        auto some = misuse::read_allowances(key.at("allow"), text, fault);
        plan_.allowances.insert(plan_.allowances.end(), some.begin(), some.end());
    }
}

/// "devices is 1 to 16; here it is 99", if the value is outside the limits of the parameter.
static std::optional<std::string> outside(const assembly::declared& parameter,
                                          std::string_view text) {
    const auto parsed = config::parse_unsigned(text);
    const auto* number = std::get_if<std::uint64_t>(&parsed);
    if (!parameter.limits || number == nullptr) return std::nullopt;
    const auto [min, max] = *parameter.limits;
    if (*number >= min && *number <= max) return std::nullopt;
    return fmt::format("{} is {} to {}; here it is {}", parameter.name, min, max, text);
}

/// The board's parameters, some set on the command line.
variables module_planner::board_values(const assembly& board) {
    variables values;
    note_defaults("", board);
    std::vector<bool> given(board.parameters.size());
    for (const auto& p : board.parameters) values.emplace_back(p.name, p.value);
    const auto refuse = [&](mistake code, std::string message, std::string suggestion) {
        plan_.problems->add({.code = code,
                             .file = options_.place.file,
                             .line = options_.place.line,
                             .column = options_.place.column,
                             .message = std::move(message),
                             .suggestion = std::move(suggestion)});
    };
    for (const auto& setting : options_.set) {
        const auto name = setting.substr(0, setting.find('='));
        if (name.empty() || name == setting) {
            refuse(
                mistake::not_a_choice,
                fmt::format(
                    "--set {}: NAME=VALUE was expected{}", setting,
                    values.empty() ? "" : ", such as " + values[0].first + "=" + values[0].second),
                "");
            continue;
        }
        const auto text = setting.substr(std::min(name.size() + 1, setting.size()));
        const auto found = std::ranges::find(board.parameters, name, &assembly::declared::name);
        if (found == board.parameters.end()) {
            refuse(mistake::unknown_parameter,
                   fmt::format("board '{}' has no parameter '{}'", board.name, name),
                   suggest(name, names_of(board.parameters)));
            continue;
        }
        if (const auto why = not_of_type(found->type, text))
            refuse(why->code, fmt::format("{}: {}", name, why->message), why->suggestion);
        else if (const auto limits = outside(*found, text))
            refuse(mistake::out_of_range, *limits, "");
        const auto index = static_cast<std::size_t>(found - board.parameters.begin());
        if (given[index])
            refuse(
                mistake::duplicate_key,
                fmt::format("'{}' is set twice: '{}' and '{}'", name, values[index].second, text),
                "");
        values[index].second = text;
        given[index] = true;
        all_.note("", name,
                  {.given_by = parameter_origin::source::command_line, .written = setting});
    }
    apply_presets(
        board, values, given,
        [&](std::size_t p, const config::refusal& why) {
            if (given[p])
                refuse(why.code, why.message, why.suggestion);
            else
                all_.report(board.parameters[p].node, why);
        },
        [&](const assembly::declared& chosen, const std::string& choice) {
            all_.note("", chosen.name,
                      {.given_by = parameter_origin::source::preset, .written = choice},
                      chosen.node);
        });
    return values;
}

void module_planner::note_defaults(std::string_view module, const assembly& file) const {
    if (!all_.on_origin) return;
    for (const auto& p : file.parameters)
        all_.note(module, p.name,
                  {.given_by = parameter_origin::source::file_default, .default_text = p.value},
                  p.node);
}

/// `kinds: [libmine.so]`: paths from the folder of the file.
bool module_planner::load_libraries(const assembly& file) {
    const auto before = all_.mistakes();
    if (const auto libraries = file.root().find("kinds"))
        for (const auto& library : libraries.items())
            if (const auto name = library.as<std::string>(); !name.empty())
                if (const auto why = load_kinds(file.folder / name, kinds_))
                    all_.report(library, mistake::unreadable_file,
                                fmt::format("no kinds from '{}': {}", name, *why));
    return all_.mistakes() == before;
}

void module_planner::expand(scope& here) {
    if (!load_libraries(*here.file)) return;
    const auto list = here.file->root().at("modules");
    for (const auto& e : list.entries()) {
        auto declared = read(here, e);
        if (!declared) {
            here.broken.insert(e.key);
            continue;
        }
        for (std::uint64_t i = 0; i < declared->count; ++i) {
            const auto before = all_.mistakes();
            if (!add(here, *declared, i)) return;
            if (all_.mistakes() == before) continue;
            here.broken.insert(declared->name);
            break;  // the other instances have the same errors
        }
    }
    bindings_.connect(here);
}

// --- Reading of one declaration

std::optional<module_planner::declaration> module_planner::read(const scope& here, const entry& e) {
    declaration out;
    out.name = e.key_node.name();
    out.node = e.key_node;
    if (!e.value.is_map()) {
        all_.report(e.value, mistake::wrong_shape, "a module is a mapping with a 'type'");
        return std::nullopt;
    }
    if (e.value.size() > max_settings) {
        all_.report(e.key_node, mistake::too_many_values,
                    fmt::format("'{}' has more than {} keys", e.key, max_settings));
        return std::nullopt;
    }
    const auto type = e.value.find("type");
    if (!type) {
        all_.report(e.key_node, mistake::missing_key, fmt::format("'{}' has no 'type'", e.key));
        return std::nullopt;
    }
    if (const auto count = e.value.find("count")) {
        const auto times = all_.count(count, here.values, planning::max_modules);
        if (!times) return std::nullopt;
        out.count = *times;
        out.counted = true;
    }
    for (const auto& setting : e.value.entries())
        if (setting.key != "type" && setting.key != "count" && setting.key != "each" &&
            setting.key != "inherit")
            out.settings.push_back({setting, std::nullopt});
    if (const auto each = e.value.find("each"); each && !read_each(each, out)) return std::nullopt;
    if (out.name.empty() || !find_type(here, type, out)) return std::nullopt;
    if (const auto inherit = e.value.find("inherit"); inherit && !read_inherit(here, inherit, out))
        return std::nullopt;
    out.first_each = out.settings.size();
    for (const auto& series : out.each) out.settings.push_back({series.first, std::nullopt});
    return out;
}

bool module_planner::read_each(const config::node& each, declaration& out) {
    if (!out.counted) {
        all_.report(each, mistake::missing_key, "'each' has no effect without 'count'");
        return false;
    }
    if (each.size() > max_settings) {
        all_.report(each, mistake::too_many_values,
                    fmt::format("'each' has more than {} keys", max_settings));
        return false;
    }
    for (const auto& setting : each.entries()) {
        if (find_key(out.settings, setting.key) != out.settings.end()) {
            all_.report(setting.key_node, mistake::duplicate_key,
                        fmt::format("'{}' is given for all instances too", setting.key));
            return false;
        }
        const auto values = all_.read_series(setting.value);
        if (!values) return false;
        if (values->is_list() && values->items.size() < out.count) {
            all_.report(setting.value, mistake::bad_count,
                        fmt::format("a list of {} values was expected: one per instance; here "
                                    "are {}",
                                    out.count, values->items.size()));
            return false;
        }
        out.each.emplace_back(setting, *values);
    }
    return true;
}

/// `inherit: true`: parameters not given take the values of this file's parameters of the same
/// name.
bool module_planner::read_inherit(const scope& here, const config::node& inherit,
                                  declaration& out) {
    if (inherit.raw() != "true") {
        all_.report(inherit, mistake::not_a_choice, "'inherit' is true or left out");
        return false;
    }
    const auto takes = [&](const std::string& name) {
        if (out.assembled != nullptr)
            return std::ranges::count(out.assembled->parameters, name, &assembly::declared::name) >
                   0;
        const auto* p = out.built_as->find_parameter(name);
        return p != nullptr && !p->list();
    };
    bool found = false;
    for (const auto& variable : here.values) {
        const std::string& name = variable.first;
        if (!takes(name)) continue;
        found = true;
        const bool given = find_key(out.settings, name) != out.settings.end() ||
                           std::ranges::any_of(out.each, [&](const auto& setting) {
                               return setting.first.key == name;
                           });
        if (!given) out.settings.push_back({{name, inherit, inherit}, variable.second});
    }
    if (!found)
        all_.report(
            inherit, mistake::missing_key,
            fmt::format("'inherit' has no effect: {} has no parameter of this file", out.type));
    return found;
}

bool module_planner::find_type(const scope& here, const config::node& type, declaration& out) {
    const auto name = all_.text(type, here.values);
    if (!name) return false;
    out.type = *name;
    if (name->find('/') != std::string::npos) {
        if (all_.is_too_deep(inside_.size(), type)) return false;
        out.assembled = files_.load(*here.file, type, *name);
        return out.assembled != nullptr && !is_cycle(out.assembled, type);
    }
    out.built_as = find_kind(kinds_, *name);
    if (out.built_as == nullptr)
        all_.report(type, mistake::unknown_type, fmt::format("no kind '{}'", *name),
                    [&] { return suggest(*name, kind_names(kinds_)); });
    return out.built_as != nullptr;
}

bool module_planner::is_cycle(const assembly* next, const config::node& node) {
    if (std::find(inside_.begin(), inside_.end(), next) == inside_.end()) return false;
    std::vector<std::string> chain;
    for (const auto* file : inside_) chain.push_back(file->document->name());
    all_.report(node, mistake::include_cycle, "this assembly contains itself",
                fmt::format("{} -> {}", fmt::join(chain, " -> "), next->document->name()));
    return true;
}

// --- Adding one instance

bool module_planner::add(scope& here, declaration& declared, std::uint64_t i) {
    if (plan_.modules.size() >= planning::max_modules || all_.full) {
        all_.too_many(declared.node, "modules", planning::max_modules);
        return false;
    }
    const auto index = static_cast<std::uint32_t>(plan_.modules.size());
    plan::module made;
    made.name = declared.counted ? fmt::format("{}{}", declared.name, i) : declared.name;
    made.path = here.container == plan::none ? made.name
                                             : plan_.modules[here.container].path + "." + made.name;
    made.type = declared.type;
    made.built_as = declared.built_as;
    made.parent = here.container;
    made.node = declared.node;
    if (const auto [twin, fresh] = here.modules.try_emplace(made.name, index); !fresh) {
        all_.report(declared.node, mistake::module_twice,
                    fmt::format("two modules '{}'", made.name),
                    "first at " + place_text(plan_.modules[twin->second].node));
        return true;
    }
    std::optional<counter> number;
    if (declared.counted) number.emplace(here.values, i);
    const variables& known = here.values;
    if (!set_each(declared, i, known)) return true;
    if (declared.built_as != nullptr) {
        configure(declared, known, made);
        made.end = index + 1;
        plan_.modules.push_back(std::move(made));
        return true;
    }
    if (!all_.has_room(declared.node, declared.assembled->parameters.size())) return false;
    scope inner{declared.assembled, {}, index, {}, {}};
    fill(made.path, declared, known, inner.values);
    number.reset();
    made.parameters = inner.values;
    plan_.modules.push_back(std::move(made));
    inside_.push_back(declared.assembled);
    expand(inner);
    inside_.pop_back();
    plan_.modules[index].end = static_cast<std::uint32_t>(plan_.modules.size());
    return true;
}

/// Sets the values of `each:` for instance `i`.
bool module_planner::set_each(declaration& declared, std::uint64_t i, const variables& known) {
    for (std::size_t n = 0; n < declared.each.size(); ++n) {
        const series& values = declared.each[n].second;
        setting& instance_setting = declared.settings[declared.first_each + n];
        instance_setting.value = values.is_list() ? values.items[i] : values.value;
        if (values.is_list()) continue;
        instance_setting.written_out = all_.nth_text(values, i, known);
        if (!instance_setting.written_out) return false;
    }
    return true;
}

std::optional<std::string> module_planner::value_of(const setting& s, const variables& known) {
    return s.written_out ? s.written_out : all_.text(s.value, known);
}

/// `inherit: true` is as `NAME: ${NAME}`. Other texts that are no node are of a series.
void module_planner::note(std::string_view module, const setting& given) const {
    if (!all_.on_origin) return;
    const auto key = given.key_node.place(), value = given.value.place();
    std::string written(given.value.raw());
    if (key.line == value.line && key.column == value.column)
        written = fmt::format("${{{}}}", given.key);
    else if (given.written_out)
        written = "first: " + written;
    all_.note(module, given.key,
              {.given_by = parameter_origin::source::setting, .written = std::move(written)},
              given.value);
}

void module_planner::configure(const declaration& declared, const variables& known,
                               plan::module& module) {
    const kind& type = *declared.built_as;
    module.config = type.defaults();
    const auto before = all_.mistakes();
    for (const auto& s : declared.settings) {
        if (const auto* p = type.find_parameter(s.key)) {
            assign(*p, s, known, module.config);
            note(module.path, s);
        } else
            all_.report(s.key_node, mistake::unknown_parameter,
                        fmt::format("{} has no parameter '{}'", type.name, s.key),
                        [&] { return suggest(s.key, names_of(type.parameters)); });
    }
    for (const auto& p : type.parameters)
        if (p.required && find_key(declared.settings, p.name) == declared.settings.end())
            all_.report(declared.node, mistake::missing_parameter,
                        fmt::format("{} needs '{}'", type.name, p.name),
                        fmt::format("{}: {}", p.type, p.doc));
    if (!type.check || all_.mistakes() != before) return;
    if (const auto why = type.check(module.config))
        all_.report(declared.node, mistake::refused_by_model,
                    fmt::format("{}: {}", type.name, *why));
}

void module_planner::assign(const parameter& p, const setting& given, const variables& known,
                            std::any& config) {
    const auto& value = given.value;
    if (p.list() != value.is_list())
        return all_.report(value, mistake::wrong_shape,
                           fmt::format("'{}' is a {}", p.name, p.type));
    if (!p.list()) {
        if (const auto text = value_of(given, known))
            p.assign(config, {&*text, 1},
                     [&](std::size_t, const config::refusal& why) { all_.report(value, why); });
        return;
    }
    const auto items = value.items();
    std::vector<std::string> texts;
    for (const auto& item : items) {
        auto text = all_.text(item, known);
        if (!text) return;
        texts.push_back(std::move(*text));
    }
    p.assign(config, texts, [&](std::size_t index, const config::refusal& why) {
        all_.report(items[index], why);
    });
}

/// Sets the values of an assembly's parameters for this instance.
void module_planner::fill(const std::string& module, const declaration& declaration,
                          const variables& known, variables& inner) {
    const auto& declared = declaration.assembled->parameters;
    note_defaults(module, *declaration.assembled);
    std::vector<bool> given(declared.size());
    std::vector<config::node> nodes;
    for (const auto& p : declared) nodes.push_back(p.node);
    for (const auto& p : declared) inner.emplace_back(p.name, p.value);
    for (const auto& s : declaration.settings) {
        const auto found = std::ranges::find(declared, s.key, &assembly::declared::name);
        if (found == declared.end()) {
            all_.report(s.key_node, mistake::unknown_parameter,
                        fmt::format("{} has no parameter '{}'", declaration.type, s.key),
                        [&] { return suggest(s.key, names_of(declared)); });
            continue;
        }
        const auto text = value_of(s, known);
        if (!text) continue;
        if (const auto why = not_of_type(found->type, *text)) all_.report(s.value, *why);
        const auto index = static_cast<std::size_t>(found - declared.begin());
        inner[index].second = *text;
        given[index] = true;
        nodes[index] = s.value;
        note(module, s);
    }
    apply_presets(
        *declaration.assembled, inner, std::move(given),
        [&](std::size_t p, const config::refusal& why) { all_.report(nodes[p], why); },
        [&](const assembly::declared& chosen, const std::string& choice) {
            all_.note(module, chosen.name,
                      {.given_by = parameter_origin::source::preset, .written = choice},
                      chosen.node);
        });
}

}  // namespace trn

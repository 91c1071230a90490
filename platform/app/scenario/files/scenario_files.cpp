// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/files/scenario_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "platform/app/scenario/context/play.h"
#include "platform/app/scenario/context/scenario_context.h"
#include "platform/app/scenario/files/setup_text.h"
#include "platform/app/scenario/steps/nesting_steps.h"
#include "platform/app/scenario/steps/step_kinds.h"
#include "platform/framework/config/mix_in.h"

namespace trn::scenario {

namespace fs = std::filesystem;

scenario_files::scenario_files(const fs::path& file) {
    documents_.push_back(config::document::load(file, problems_));
}

void scenario_files::begin_point(const setting& point) {
    setting_ = point;
    captured_.clear();
    kept_.clear();
    checks_.clear();
    started_.clear();
    finished_.clear();
    finishes_captured_ = false;
    steps_ = 0;
    file_bytes_ = 0;
}

// --- Files and sequences

std::uint64_t scenario_files::text_digest() const {
    auto hash = first_mix;
    for (const auto& document : documents_) hash = mix_in(hash, document.text());
    return hash;
}

void scenario_files::read_sequences() {
    std::vector<fs::path> chain{fs::weakly_canonical(documents_.front().name())};
    include(documents_.front(), chain);
}

void scenario_files::include(const config::document& including, std::vector<fs::path>& chain) {
    define(including.root().find("sequences"));
    const auto list = including.root().find("include");
    if (!list) return;
    for (const auto& item : list.items()) {
        const auto file =
            (fs::path(including.name()).parent_path() / std::string(item.raw())).lexically_normal();
        const auto known = fs::weakly_canonical(file);
        if (std::ranges::find(chain, known) != chain.end()) {
            item.report(mistake::include_cycle, "this file includes itself");
        } else if (chain.size() > max_depth) {
            item.report(mistake::nested_too_deep,
                        fmt::format("files include each other at most {} deep", max_depth));
        } else if (!fs::is_regular_file(file)) {
            item.report(mistake::unreadable_file,
                        fmt::format("there is no file '{}'", file.string()));
        } else if (included_.insert(known).second) {
            const auto& next = documents_.emplace_back(config::document::load(file, problems_));
            next.root().only({"include", "sequences"}, "an included file");
            chain.push_back(known);
            include(next, chain);
            chain.pop_back();
        }
    }
}

void scenario_files::define(const config::node& all) {
    if (!all) return;
    for (const auto& [name, definition, value] : all.entries()) {
        value.only({"parameters", "steps"}, "a sequence");
        const auto [known, fresh] = sequences_.emplace(
            name, sequence{name, definition, value.find("parameters"), value.at("steps")});
        if (!fresh)
            definition.report(
                mistake::duplicate_name,
                fmt::format("there is a sequence '{}' in {}:{} already", name,
                            known->second.node.file(), known->second.node.place().line));
    }
}

/// Whether a value in `searched`, or in the sequences that it calls, contains ${name}. Sequences
/// see the variables of their callers, unless a parameter has the same name.
bool scenario_files::is_used(std::string_view name, const config::node& searched,
                             std::set<const sequence*>& seen) const {
    if (searched.is_list())
        return std::ranges::any_of(searched.items(),
                                   [&](auto& item) { return is_used(name, item, seen); });
    if (!searched.is_map())
        return searched.raw().find(fmt::format("${{{}}}", name)) != std::string_view::npos;
    for (const auto& [key, _, value] : searched.entries()) {
        if (is_used(name, value, seen)) return true;
        if (key != "sequence" || !value.is_map()) continue;
        const auto callee = std::string(value.find("name").raw());
        if (callee.find("${") != callee.npos) return true;  // any sequence may be meant
        const auto found = sequences_.find(callee);
        if (found == sequences_.end() || !seen.insert(&found->second).second) continue;
        const auto& [_name, _node, parameters, steps] = found->second;
        if (parameters && is_used(name, parameters, seen)) return true;
        if (parameters && parameters.find(name)) continue;
        if (is_used(name, steps, seen)) return true;
    }
    return false;
}

void scenario_files::check_parameters() const {
    const auto refuse = [](const config::node& unused, const std::string& why) {
        unused.report(mistake::unused_key, why);
    };
    for (const auto& [name, definition] : sequences_) {
        if (!definition.parameters) continue;
        for (const auto& [parameter, node, _] : definition.parameters.entries()) {
            std::set<const sequence*> seen;
            if (!is_used(parameter, definition.steps, seen))
                refuse(node, fmt::format("no step of sequence '{}' uses ${{{}}}", name, parameter));
        }
    }
    const auto matrix = root().find("matrix");
    if (!matrix.is_map()) return;
    for (const auto& [axis, node, _] : matrix.entries()) {
        bool used = false;
        for (const auto& [key, _node, value] : root().entries()) {
            std::set<const sequence*> seen;
            if (key != "matrix" && key != "sequences" && key != "scenario")
                used = used || is_used(axis, value, seen);
        }
        if (!used)
            refuse(node,
                   fmt::format("nothing uses ${{{}}}: the runs of this list would be equal", axis));
    }
}

// --- Steps

std::vector<step> scenario_files::read(const config::node& list, const parameters& point,
                                       bool nested) {
    return list ? read_list(list, {point, {}, {}, nested}) : std::vector<step>{};
}

std::vector<step> scenario_files::read_setup(const config::node& list, const parameters& point) {
    return list ? read_list(list, {.values = point, .nested = true, .shared = true})
                : std::vector<step>{};
}

std::vector<step> scenario_files::read_list(const config::node& list, const scope& outer) {
    std::vector<step> steps;
    if (list.is_list() && list.size() == 0) list.report(mistake::bad_count, "at least one step");
    for (const auto& item : list.items()) read_item(item, outer, steps);
    return steps;
}

void scenario_files::read_item(const config::node& item, const scope& outer,
                               std::vector<step>& out) {
    if (problems_.list().size() >= max_mistakes) return;  // later mistakes would not be shown
    if (++steps_ > max_steps) {
        if (steps_ == max_steps + 1)
            item.report(mistake::bad_count,
                        fmt::format("a scenario has at most {} steps", max_steps));
        return;
    }
    if (outer.shared && is_of_one_scenario(item)) return;
    if (uses_captured(item)) return out.push_back(read_later(item, outer));
    if (item.is_map() && item.find("sequence")) return write_out(item, outer, out);
    auto made = read_one(item, outer);
    made.file = item.file();
    made.inside = outer.path;
    if (!outer.inside.empty())
        made.text = fmt::format("{}: {}", outer.inside.back()->name, made.text);
    note_captures(item, outer);
    note_snapshots(item, outer, made);
    note_background(item, outer, made);
    if (outer.shared) share(item, outer, made);
    if (made.check) {
        auto& check = checks_.emplace_back(made);
        check.work = std::exchange(made.check, {});
    }
    out.push_back(std::move(made));
}

step scenario_files::read_one(const config::node& item, const scope& outer) {
    if (item.is_map() && item.find("together")) return read_branches(item, outer);
    if (item.is_map() && item.find("figure")) return read_figure(item, outer);
    auto made = read_step(item, outer.values);
    const bool within = file_bytes_ <= setting_.memory_limit;
    file_bytes_ += made.file_bytes;
    if (within && file_bytes_ > setting_.memory_limit)
        item.report(mistake::out_of_range,
                    fmt::format("the program sets of the scenario have {} bytes, more than its "
                                "memory_limit",
                                file_bytes_));
    if (made.prepare) preparations_.push_back(std::exchange(made.prepare, {}));
    return made;
}

/// Replaces `sequence: {name: N, with: {...}}` by the steps of that sequence.
void scenario_files::write_out(const config::node& item, const scope& outer,
                               std::vector<step>& out) {
    item.only({"sequence"}, "a call of a sequence");
    const reader call(item.at("sequence"), outer.values);
    sequence_call called;
    read_keys(sequence_keys(), call, called);
    const auto& name = called.name;
    const auto found = sequences_.find(name);
    if (found == sequences_.end()) {
        // The value that is captured may name a sequence.
        if (in_advance_ && call.node().at("name").raw().find("${") != std::string_view::npos)
            return;
        std::vector<std::string_view> known;
        for (const auto& [sequence_name, _] : sequences_) known.push_back(sequence_name);
        return call.node().report(mistake::unknown_type,
                                  fmt::format("there is no sequence '{}'", name),
                                  suggest(name, known));
    }
    const auto& callee = found->second;
    if (std::ranges::find(outer.inside, &callee) != outer.inside.end()) {
        std::vector<std::string> chain;
        for (const auto* caller : outer.inside) chain.push_back(caller->name);
        return call.node().report(
            mistake::include_cycle,
            fmt::format("this sequence contains itself: {} > {}", fmt::join(chain, " > "), name));
    }
    if (outer.inside.size() >= max_depth)
        return call.node().report(
            mistake::nested_too_deep,
            fmt::format("sequences call each other at most {} deep", max_depth));
    const auto mistakes = problems_.list().size();
    scope inner{.values = arguments(call, callee, outer),
                .inside = outer.inside,
                .path = outer.path,
                .nested = outer.nested,
                .shared = outer.shared};
    if (problems_.list().size() != mistakes) return;
    inner.inside.push_back(&callee);
    inner.path.push_back({name, item.place().line, std::string(item.file())});
    for (auto& inner_step : read_list(callee.steps, inner)) out.push_back(std::move(inner_step));
}

/// Values for the callee's steps: its parameters, then the caller's values.
parameters scenario_files::arguments(const reader& call, const sequence& callee,
                                     const scope& outer) const {
    parameters all;
    std::vector<std::string> known;
    const auto given_values = call.has("with") ? call.map("with").node() : config::node{};
    if (callee.parameters)
        for (const auto& [name, _, otherwise] : callee.parameters.entries()) {
            known.push_back(name);
            const auto given = given_values ? given_values.find(name) : config::node{};
            if (!given && !otherwise.is_scalar())
                call.node().report(mistake::missing_parameter,
                                   fmt::format("sequence '{}' needs '{}'", callee.name, name));
            else
                all.emplace_back(name, reader::replaced(given ? given : otherwise, outer.values));
        }
    if (given_values)
        for (const auto& [name, key_node, value] : given_values.entries())
            if (std::ranges::find(known, name) == known.end())
                key_node.report(
                    mistake::unknown_parameter,
                    fmt::format("sequence '{}' has no parameter '{}'", callee.name, name),
                    suggest(name, known));
    all.insert(all.end(), outer.values.begin(), outer.values.end());
    return all;
}

// --- Shared steps

/// Reports a step whose inner steps have places of their own, which scenarios do not share.
bool scenario_files::is_of_one_scenario(const config::node& item) const {
    const bool contains = item.is_map() && (item.find("together") || item.find("figure"));
    if (!contains && !uses_captured(item)) return false;
    item.report(mistake::unknown_key,
                contains ? "a step of 'setup' contains no others; this one is for 'steps'"
                         : "what a step has captured is for 'steps', not for 'setup'");
    return true;
}

void scenario_files::share(const config::node& item, const scope& outer, step& made) const {
    made.shared = setup_text(item, outer.values);
    if (!made.rules.empty())
        item.report(mistake::unknown_key, "a misuse is expected by a scenario's own 'steps'");
}

// --- Snapshots

scenario_files::scope scenario_files::nested(scope outer, enclosing container) {
    outer.nested = true;
    outer.path.push_back(std::move(container));
    return outer;
}

/// Checks snapshots: restored only after they are taken, and only in the scenario's own list.
void scenario_files::note_snapshots(const config::node& item, const scope& outer,
                                    const step& made) {
    if (made.keeps.empty() && made.returns_to.empty()) return;
    if (outer.nested)
        return item.report(mistake::unknown_key, "snapshots are for the scenario's own 'steps'");
    if (!made.keeps.empty()) {
        kept_.push_back(made.keeps);
    } else if (std::ranges::find(kept_, made.returns_to) == kept_.end()) {
        const std::vector<std::string_view> known(kept_.begin(), kept_.end());
        item.at("restore").report(
            mistake::not_a_choice,
            fmt::format("no earlier step takes a snapshot '{}'", made.returns_to),
            suggest(made.returns_to, known));
    }
}

// --- Work in the background

/// With captured values in the step, the name of the work may not be known yet.
void scenario_files::note_background(const config::node& item, const scope& outer,
                                     const step& made) {
    finishes_captured_ = finishes_captured_ || (in_advance_ && !made.finishes.empty());
    if (!made.starts.empty() && !made.fails && !in_advance_)
        started_.push_back({item, made.starts, steps_, outer.branches});
    if (!made.finishes.empty()) finished_.push_back({item, made.finishes, steps_, outer.branches});
}

void scenario_files::check_background() const {
    if (finishes_captured_) return;
    for (const auto& start : started_) {
        const auto finishes = [&](const background& finish) {
            const bool beside = start.branches != 0 && finish.branches == start.branches;
            return finish.work == start.work && (beside || finish.order > start.order);
        };
        if (std::ranges::none_of(finished_, finishes))
            start.item.report(
                mistake::unused_key,
                fmt::format("no later step finishes the {}, so that its result has no "
                            "effect",
                            start.work));
    }
}

// --- Steps that contain steps

step scenario_files::read_branches(const config::node& item, const scope& outer) {
    item.only({"together"}, "this step");
    const auto list = item.at("together");
    std::vector<std::vector<step>> branches;
    std::vector<std::string> names;
    for (const auto& [name, _, steps] : list.entries()) {
        names.push_back(name);
        auto whole = nested(outer, {"", item.key_place("together").line, std::string(item.file())});
        if (whole.branches == 0) whole.branches = item.key_place("together").line;
        branches.push_back(read_list(steps, nested(whole, {name, 0})));
        for (auto& each : branches.back()) each.text = fmt::format("{}: {}", name, each.text);
    }
    if (list.is_map() && branches.empty()) list.report(mistake::bad_count, "at least one branch");
    if (branches.size() > max_branches)
        list.report(mistake::bad_count, fmt::format("at most {} branches", max_branches));
    step made;
    made.place = item.key_place("together");
    made.text = fmt::format("together {}", fmt::join(names, ", "));
    plan_branches(made, std::move(branches));
    return made;
}

step scenario_files::read_figure(const config::node& item, const scope& outer) {
    item.only({"figure"}, "this step");
    const reader r(item.at("figure"), outer.values);
    figure_spec spec;
    read_keys(figure_keys(), r, spec);
    step made;
    made.place = item.key_place("figure");
    made.file = item.file();
    made.inside = outer.path;
    made.text = spec.name;
    std::vector<step> parts;
    if (spec.is_timed)
        parts = read_list(r.node().at("time_of"),
                          nested(outer, {"", made.place.line, std::string(item.file())}));
    plan_figure(made, spec, std::move(parts));
    return made;
}

// --- Captured values

bool scenario_files::uses_captured(const config::node& value) const {
    if (captured_.empty()) return false;
    if (value.is_list())
        return std::ranges::any_of(value.items(), [&](auto& item) { return uses_captured(item); });
    if (value.is_map())
        return std::ranges::any_of(value.entries(),
                                   [&](auto& item) { return uses_captured(item.value); });
    return std::ranges::any_of(captured_, [&](const auto& name) {
        return value.raw().find("${" + name + "}") != std::string_view::npos;
    });
}

/// Adds the names in the key `as` of a step: a name, or a list of names.
void scenario_files::note_captures(const config::node& item, const scope& outer) {
    if (!item.is_map()) return;
    for (const auto& kind : item.keys()) {
        const auto step = item.find(kind);
        const auto captures = step.is_map() ? step.find("as") : config::node{};
        if (!captures) continue;
        std::set<std::string_view> names;
        for (const auto& name : captures.is_list() ? captures.items() : std::vector{captures}) {
            if (!names.insert(name.raw()).second)
                name.report(mistake::duplicate_name,
                            fmt::format("'{}' captures two values", name.raw()));
            if (std::ranges::find(outer.values, name.raw(), &parameters::value_type::first) !=
                outer.values.end())
                name.report(mistake::duplicate_name,
                            fmt::format("'{}' is a parameter already", name.raw()));
            captured_.emplace(name.name());
        }
    }
}

/// Reads a step that uses captured values with a number in place of each, for the mistakes that do
/// not depend on the values, and for the rules whose violation is expected.
void scenario_files::read_in_advance(const config::node& item, const scope& outer, step& later) {
    constexpr auto some_number = "1";
    auto trial = nested(outer, {"", item.place().line, std::string(item.file())});
    for (const auto& name : captured_) trial.values.emplace_back(name, some_number);
    const auto before =
        std::tuple(problems_, captured_, kept_, steps_, file_bytes_, preparations_, checks_);
    problems_ = {};
    captured_.clear();
    std::vector<step> steps;
    const bool was_in_advance = std::exchange(in_advance_, true);
    read_item(item, trial, steps);
    in_advance_ = was_in_advance;
    add_rules_of(steps, later);
    const auto found = std::exchange(problems_, {});
    const auto inner = std::exchange(captured_, {});
    std::tie(problems_, captured_, kept_, steps_, file_bytes_, preparations_, checks_) = before;
    captured_.insert(inner.begin(), inner.end());
    const auto is_of_keys = [](const diagnostic& mistake_of_key) {
        return mistake_of_key.code == mistake::missing_key ||
               mistake_of_key.code == mistake::unknown_type ||
               mistake_of_key.code == mistake::unknown_key;
    };
    // With a value that is not a number, mistakes of keys may be consequences.
    if (std::ranges::all_of(found.list(), is_of_keys))
        for (const auto& found_mistake : found.list()) problems_.add(found_mistake);
}

step scenario_files::read_later(const config::node& item, const scope& outer) {
    step made;
    made.place = item.place();
    made.file = item.file();
    made.inside = outer.path;
    made.text = "a step that uses what was captured";
    made.drives = false;
    made.work = [self = shared_from_this(), item, outer,
                 point = setting_](scenario_context& ctx) mutable {
        point.seed = ctx.seed;
        scope now = nested(outer, {"", item.place().line, std::string(item.file())});
        for (const auto& [name, value] : ctx.captured) now.values.emplace_back(name, value);
        self->problems_ = {};
        self->begin_point(point);
        std::vector<step> steps;
        self->read_item(item, now, steps);
        for (const auto& prepare : self->take_preparations())
            if (self->problems_.empty()) prepare(point);
        if (!self->problems_.empty()) throw step_failure(self->problems_.list().front().text());
        for (const auto& each : steps) play(each, ctx);
    };
    read_in_advance(item, outer, made);
    note_captures(item, outer);
    return made;
}

}  // namespace trn::scenario

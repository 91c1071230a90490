// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/scenario_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "platform/app/scenario/condition.h"
#include "platform/app/scenario/play.h"
#include "platform/app/scenario/scenario_context.h"
#include "platform/app/scenario/step_kinds.h"
#include "platform/app/scenario/steps.h"
#include "platform/framework/config/mix_in.h"

namespace trn::scenario {

namespace fs = std::filesystem;

scenario_files::scenario_files(const fs::path& file) {
    documents_.push_back(config::document::load(file, problems_));
}

void scenario_files::begin_point(const setting& of) {
    setting_ = of;
    captured_.clear();
    kept_.clear();
    checks_.clear();
    started_.clear();
    finished_.clear();
    finishes_captured_ = false;
    steps_ = 0;
    file_bytes_ = 0;
}

// --- Keys of steps that contain steps

namespace {

struct sequence_call {
    std::string name = {};
};

keys<sequence_call> sequence_keys() {
    return {key("name", &sequence_call::name, "in `sequences`").required(),
            key<sequence_call>("with", value_shape::map, "{parameter: value}")};
}

struct figure_spec : number_source {
    std::string name = {}, unit = {};
    std::optional<bytes> size = {};
    std::optional<double> value = {};
};

keys<figure_spec> figure_keys() {
    using f = figure_spec;
    const std::vector<std::string_view> others{"time_of", "value", "register"};
    return keys<f>{
        key("name", &f::name, "in the reports").required(),
        key<f>("time_of", value_shape::steps, "steps, whose simulated time is the value"),
        key("bytes", &f::size, "that the steps move").within({.min = 1}).only_with({"time_of"}),
        key("module", &f::module, "that has the counter")
            .required_without(others)
            .only_with({"counter"}),
        key("counter", &f::counter, "in its statistics").required_without(others),
        key("register", &f::register_name, "its name"),
        key("index", &f::index, "of an element of a register array").only_with({"register"}),
        key("instance", &f::instance, "of a register that a module has several times")
            .only_with({"register"}),
        key("value", &f::value, "a number or a name that `as` has kept"),
        key("unit", &f::unit, "in the reports").not_with({"time_of"}),
        key<f>("at_least", value_shape::real,
               "bound: a number; of `time_of` a time, with `bytes` a rate"),
        key<f>("at_most", value_shape::real,
               "bound: a number; of `time_of` a time, with `bytes` a rate")}
        .one_of({"time_of", "counter", "register", "value"});
}

}  // namespace

std::vector<step_kind> nesting_steps() {
    return {
        {"sequence", "the steps of that name", step_kind::form::mapping, shown(sequence_keys())},
        {"together", "branches that begin at the same time", step_kind::form::branches},
        {"figure", "a value in the reports", step_kind::form::mapping, shown(figure_keys())}};
}

// --- Files and sequences

std::uint64_t scenario_files::text_digest() const {
    auto hash = first_mix;
    for (const auto& one : documents_) hash = mix_in(hash, one.text());
    return hash;
}

void scenario_files::read_sequences() {
    std::vector<fs::path> chain{fs::weakly_canonical(documents_.front().name())};
    include(documents_.front(), chain);
}

void scenario_files::include(const config::document& from, std::vector<fs::path>& chain) {
    define(from.root().find("sequences"));
    const auto list = from.root().find("include");
    if (!list) return;
    for (const auto& item : list.items()) {
        const auto file =
            (fs::path(from.name()).parent_path() / std::string(item.raw())).lexically_normal();
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
    for (const auto& [name, where, value] : all.entries()) {
        value.only({"parameters", "steps"}, "a sequence");
        const auto [known, fresh] = sequences_.emplace(
            name, sequence{name, where, value.find("parameters"), value.at("steps")});
        if (!fresh)
            where.report(mistake::duplicate_name,
                         fmt::format("there is a sequence '{}' in {}:{} already", name,
                                     known->second.where.file(), known->second.where.where().line));
    }
}

/// Whether a value in `in`, or in the sequences that it calls, contains ${name}. Sequences see the
/// variables of their callers, unless a parameter has the same name.
bool scenario_files::is_used(std::string_view name, const config::node& in,
                             std::set<const sequence*>& seen) const {
    if (in.is_list())
        return std::ranges::any_of(in.items(), [&](auto& one) { return is_used(name, one, seen); });
    if (!in.is_map()) return in.raw().find(fmt::format("${{{}}}", name)) != std::string_view::npos;
    for (const auto& [key, _, value] : in.entries()) {
        if (is_used(name, value, seen)) return true;
        if (key != "sequence" || !value.is_map()) continue;
        const auto callee = std::string(value.find("name").raw());
        if (callee.find("${") != callee.npos) return true;  // any sequence may be meant
        const auto found = sequences_.find(callee);
        if (found == sequences_.end() || !seen.insert(&found->second).second) continue;
        const auto& [_name, _where, parameters, steps] = found->second;
        if (parameters && is_used(name, parameters, seen)) return true;
        if (parameters && parameters.find(name)) continue;
        if (is_used(name, steps, seen)) return true;
    }
    return false;
}

void scenario_files::check_parameters() const {
    const auto refuse = [](const config::node& where, const std::string& why) {
        where.report(mistake::unused_key, why);
    };
    for (const auto& [name, one] : sequences_) {
        if (!one.parameters) continue;
        for (const auto& [parameter, where, _] : one.parameters.entries()) {
            std::set<const sequence*> seen;
            if (!is_used(parameter, one.steps, seen))
                refuse(where,
                       fmt::format("no step of sequence '{}' uses ${{{}}}", name, parameter));
        }
    }
    const auto matrix = root().find("matrix");
    if (!matrix.is_map()) return;
    for (const auto& [axis, where, _] : matrix.entries()) {
        bool used = false;
        for (const auto& [key, _where, value] : root().entries()) {
            std::set<const sequence*> seen;
            if (key != "matrix" && key != "sequences" && key != "scenario")
                used = used || is_used(axis, value, seen);
        }
        if (!used)
            refuse(where,
                   fmt::format("nothing uses ${{{}}}: the runs of this list would be equal", axis));
    }
}

// --- Steps

std::vector<step> scenario_files::read(const config::node& list, const parameters& point,
                                       bool nested) {
    return list ? read_list(list, {point, {}, {}, nested}) : std::vector<step>{};
}

std::vector<step> scenario_files::read_list(const config::node& list, const scope& in) {
    std::vector<step> steps;
    if (list.is_list() && list.size() == 0) list.report(mistake::bad_count, "at least one step");
    for (const auto& item : list.items()) read_item(item, in, steps);
    return steps;
}

void scenario_files::read_item(const config::node& item, const scope& in, std::vector<step>& out) {
    if (problems_.list().size() >= max_mistakes) return;  // later mistakes would not be shown
    if (++steps_ > max_steps) {
        if (steps_ == max_steps + 1)
            item.report(mistake::bad_count,
                        fmt::format("a scenario has at most {} steps", max_steps));
        return;
    }
    if (uses_captured(item)) return out.push_back(read_later(item, in));
    if (item.is_map() && item.find("sequence")) return write_out(item, in, out);
    auto one = read_one(item, in);
    one.file = item.file();
    one.inside = in.path;
    if (!in.inside.empty()) one.text = fmt::format("{}: {}", in.inside.back()->name, one.text);
    note_captures(item, in);
    note_snapshots(item, in, one);
    note_background(item, in, one);
    if (one.check) {
        auto& check = checks_.emplace_back(one);
        check.work = std::exchange(one.check, {});
    }
    out.push_back(std::move(one));
}

step scenario_files::read_one(const config::node& item, const scope& in) {
    if (item.is_map() && item.find("together")) return read_branches(item, in);
    if (item.is_map() && item.find("figure")) return read_figure(item, in);
    auto one = read_step(item, in.values);
    const bool within = file_bytes_ <= setting_.memory_limit;
    file_bytes_ += one.file_bytes;
    if (within && file_bytes_ > setting_.memory_limit)
        item.report(mistake::out_of_range,
                    fmt::format("the program sets of the scenario have {} bytes, more than its "
                                "memory_limit",
                                file_bytes_));
    if (one.prepare) preparations_.push_back(std::exchange(one.prepare, {}));
    return one;
}

/// Replaces `sequence: {name: N, with: {...}}` by the steps of that sequence.
void scenario_files::write_out(const config::node& item, const scope& in, std::vector<step>& out) {
    item.only({"sequence"}, "a call of a sequence");
    const reader call(item.at("sequence"), in.values);
    sequence_call called;
    read_keys(sequence_keys(), call, called);
    const auto& name = called.name;
    const auto found = sequences_.find(name);
    if (found == sequences_.end()) {
        // The value that is captured may name a sequence.
        if (in_advance_ && call.node().at("name").raw().find("${") != std::string_view::npos)
            return;
        std::vector<std::string_view> known;
        for (const auto& [one, _] : sequences_) known.push_back(one);
        return call.node().report(mistake::unknown_type,
                                  fmt::format("there is no sequence '{}'", name),
                                  suggest(name, known));
    }
    const auto& callee = found->second;
    if (std::ranges::find(in.inside, &callee) != in.inside.end()) {
        std::vector<std::string> chain;
        for (const auto* one : in.inside) chain.push_back(one->name);
        return call.node().report(
            mistake::include_cycle,
            fmt::format("this sequence contains itself: {} > {}", fmt::join(chain, " > "), name));
    }
    if (in.inside.size() >= max_depth)
        return call.node().report(
            mistake::nested_too_deep,
            fmt::format("sequences call each other at most {} deep", max_depth));
    const auto mistakes = problems_.list().size();
    scope inner{arguments(call, callee, in), in.inside, in.path, in.nested};
    if (problems_.list().size() != mistakes) return;
    inner.inside.push_back(&callee);
    inner.path.push_back({name, item.where().line, std::string(item.file())});
    for (auto& one : read_list(callee.steps, inner)) out.push_back(std::move(one));
}

/// Values for the callee's steps: its parameters, then the caller's values.
parameters scenario_files::arguments(const reader& call, const sequence& callee,
                                     const scope& in) const {
    parameters all;
    std::vector<std::string> known;
    const auto with = call.has("with") ? call.map("with").node() : config::node{};
    if (callee.parameters)
        for (const auto& [name, _, otherwise] : callee.parameters.entries()) {
            known.push_back(name);
            const auto given = with ? with.find(name) : config::node{};
            if (!given && !otherwise.is_scalar())
                call.node().report(mistake::missing_parameter,
                                   fmt::format("sequence '{}' needs '{}'", callee.name, name));
            else
                all.emplace_back(name, reader::replaced(given ? given : otherwise, in.values));
        }
    if (with)
        for (const auto& [name, where, value] : with.entries())
            if (std::ranges::find(known, name) == known.end())
                where.report(mistake::unknown_parameter,
                             fmt::format("sequence '{}' has no parameter '{}'", callee.name, name),
                             suggest(name, known));
    all.insert(all.end(), in.values.begin(), in.values.end());
    return all;
}

// --- Snapshots

scenario_files::scope scenario_files::nested(scope in, enclosing by) {
    in.nested = true;
    in.path.push_back(std::move(by));
    return in;
}

/// Checks snapshots: restored only after they are taken, and only in the scenario's own list.
void scenario_files::note_snapshots(const config::node& item, const scope& in, const step& one) {
    if (one.keeps.empty() && one.returns_to.empty()) return;
    if (in.nested)
        return item.report(mistake::unknown_key, "snapshots are for the scenario's own 'steps'");
    if (!one.keeps.empty()) {
        kept_.push_back(one.keeps);
    } else if (std::ranges::find(kept_, one.returns_to) == kept_.end()) {
        const std::vector<std::string_view> known(kept_.begin(), kept_.end());
        item.at("restore").report(
            mistake::not_a_choice,
            fmt::format("no earlier step takes a snapshot '{}'", one.returns_to),
            suggest(one.returns_to, known));
    }
}

// --- Work in the background

/// With captured values in the step, the name of the work may not be known yet.
void scenario_files::note_background(const config::node& item, const scope& in, const step& one) {
    finishes_captured_ = finishes_captured_ || (in_advance_ && !one.finishes.empty());
    if (!one.starts.empty() && !one.fails && !in_advance_)
        started_.push_back({item, one.starts, steps_, in.branches});
    if (!one.finishes.empty()) finished_.push_back({item, one.finishes, steps_, in.branches});
}

void scenario_files::check_background() const {
    if (finishes_captured_) return;
    for (const auto& start : started_) {
        const auto finishes = [&](const background& one) {
            const bool beside = start.branches != 0 && one.branches == start.branches;
            return one.work == start.work && (beside || one.order > start.order);
        };
        if (std::ranges::none_of(finished_, finishes))
            start.item.report(
                mistake::unused_key,
                fmt::format("no later step finishes the {}, so that its result has no "
                            "effect",
                            start.work));
    }
}

// --- Branches

namespace {

/// Adds the rules of inner steps to the step that contains them.
void add_rules_of(const std::vector<step>& parts, step& whole) {
    for (const auto& one : parts)
        whole.rules.insert(whole.rules.end(), one.rules.begin(), one.rules.end());
}

/// Runs the steps of a branch until any branch fails; only the first failure is reported.
void play_branch(const std::vector<step>& steps, scenario_context& on, const progress& report) {
    for (const auto& one : steps) {
        if (on.failed) return;
        try {
            play(one, on, report);
        } catch (const std::exception& wrong) {
            if (!std::exchange(on.failed, true)) {
                on.failure = wrong.what();
                report.again(one, trn_now(on.device));
            }
            throw;
        }
    }
}

}  // namespace

/// Reads `together: {NAME: STEPS, ...}`: branches that start at the same time. The step ends when
/// all have ended.
step scenario_files::read_branches(const config::node& item, const scope& in) {
    item.only({"together"}, "this step");
    const auto list = item.at("together");
    std::vector<std::vector<step>> branches;
    std::vector<std::string> names;
    for (const auto& [name, _, steps] : list.entries()) {
        names.push_back(name);
        auto whole = nested(in, {"", item.key_place("together").line, std::string(item.file())});
        if (whole.branches == 0) whole.branches = item.key_place("together").line;
        branches.push_back(read_list(steps, nested(whole, {name, 0})));
        for (auto& each : branches.back()) each.text = fmt::format("{}: {}", name, each.text);
    }
    if (list.is_map() && branches.empty()) list.report(mistake::bad_count, "at least one branch");
    if (branches.size() > max_branches)
        list.report(mistake::bad_count, fmt::format("at most {} branches", max_branches));
    step one;
    one.where = item.key_place("together");
    one.text = fmt::format("together {}", fmt::join(names, ", "));
    one.drives = false;
    one.work = [branches](scenario_context& ctx) {
        const auto& report = *ctx.report;
        std::size_t next = 0;
        ctx.hosts.run_each(std::vector<std::size_t>(branches.size(), 0),
                           [&](auto, auto&) { play_branch(branches[next++], ctx, report); });
    };
    for (const auto& branch : branches) add_rules_of(branch, one);
    return one;
}

// --- Figures

/// Reads a `figure`: the simulated time of steps, the rate at which they move `bytes`, a counter, a
/// register, or a captured value.
step scenario_files::read_figure(const config::node& item, const scope& in) {
    item.only({"figure"}, "this step");
    const reader r(item.at("figure"), in.values);
    figure_spec said;
    read_keys(figure_keys(), r, said);
    step one;
    one.where = item.key_place("figure");
    one.drives = false;
    one.text = said.name;
    figure wanted{said.name, 0, said.unit};
    const auto bounds = [&](auto&& read) {
        if (r.has("at_least")) wanted.min = read("at_least");
        if (r.has("at_most")) wanted.max = read("at_most");
        check_bounds(r, wanted);
    };
    const auto number = [&](std::string_view key) { return r.real(key); };
    if (said.value) {
        bounds(number);
        wanted.value = *said.value;
        one.work = [wanted](scenario_context& ctx) { measure(ctx, wanted); };
        return one;
    }
    if (!r.has("time_of")) {
        bounds(number);
        one.work = [wanted, number = number_at(said)](scenario_context& ctx) {
            auto found = wanted;
            found.value = static_cast<double>(number(ctx)());
            measure(ctx, found);
        };
        return one;
    }
    const auto bytes = said.size.value_or(trn::bytes{}).value;
    if (bytes != 0) wanted.unit = "GB/s";
    bounds([&](std::string_view key) {
        return bytes != 0 ? static_cast<double>(r.rate(key)) * 1e-9
                          : static_cast<double>(r.time(key)) * 1e-3;
    });
    if (wanted.unit.empty()) wanted.unit = "us";
    const auto steps = read_list(r.node().at("time_of"),
                                 nested(in, {"", one.where.line, std::string(item.file())}));
    add_rules_of(steps, one);
    one.inside = in.path;  // reported a second time after its inner steps
    one.file = item.file();
    one.work = [=, place = one](scenario_context& ctx) {
        const auto& report = *ctx.report;
        const auto begin = sc_core::sc_time_stamp();
        for (const auto& each : steps) play(each, ctx, report);
        report.again(place, trn_now(ctx.device));
        const auto ns = static_cast<double>((sc_core::sc_time_stamp() - begin).value()) / 1000;
        if (bytes != 0 && ns == 0)
            throw step_failure("the rate is undefined: the steps took no simulated time");
        auto found = wanted;
        found.value = bytes != 0 ? static_cast<double>(bytes) / ns : ns * 1e-3;
        measure(ctx, found);
    };
    return one;
}

// --- Captured values

bool scenario_files::uses_captured(const config::node& value) const {
    if (captured_.empty()) return false;
    if (value.is_list())
        return std::ranges::any_of(value.items(), [&](auto& one) { return uses_captured(one); });
    if (value.is_map())
        return std::ranges::any_of(value.entries(),
                                   [&](auto& one) { return uses_captured(one.value); });
    return std::ranges::any_of(captured_, [&](const auto& name) {
        return value.raw().find("${" + name + "}") != std::string_view::npos;
    });
}

/// Adds the names in the key `as` of a step: a name, or a list of names.
void scenario_files::note_captures(const config::node& item, const scope& in) {
    if (!item.is_map()) return;
    for (const auto& kind : item.keys()) {
        const auto step = item.find(kind);
        const auto as = step.is_map() ? step.find("as") : config::node{};
        if (!as) continue;
        std::set<std::string_view> names;
        for (const auto& name : as.is_list() ? as.items() : std::vector{as}) {
            if (!names.insert(name.raw()).second)
                name.report(mistake::duplicate_name,
                            fmt::format("'{}' captures two values", name.raw()));
            if (std::ranges::find(in.values, name.raw(), &parameters::value_type::first) !=
                in.values.end())
                name.report(mistake::duplicate_name,
                            fmt::format("'{}' is a parameter already", name.raw()));
            captured_.emplace(name.name());
        }
    }
}

/// Reads a step that uses captured values with a number in place of each, for the mistakes that do
/// not depend on the values, and for the rules whose violation is expected.
void scenario_files::read_in_advance(const config::node& item, const scope& in, step& later) {
    constexpr auto some_number = "1";
    auto trial = nested(in, {"", item.where().line, std::string(item.file())});
    for (const auto& name : captured_) trial.values.emplace_back(name, some_number);
    const auto before =
        std::tuple(problems_, captured_, kept_, steps_, file_bytes_, preparations_, checks_);
    problems_ = {};
    captured_.clear();
    std::vector<step> steps;
    const bool outer = std::exchange(in_advance_, true);
    read_item(item, trial, steps);
    in_advance_ = outer;
    add_rules_of(steps, later);
    const auto found = std::exchange(problems_, {});
    const auto inner = std::exchange(captured_, {});
    std::tie(problems_, captured_, kept_, steps_, file_bytes_, preparations_, checks_) = before;
    captured_.insert(inner.begin(), inner.end());
    const auto is_of_keys = [](const diagnostic& one) {
        return one.code == mistake::missing_key || one.code == mistake::unknown_type ||
               one.code == mistake::unknown_key;
    };
    // With a value that is not a number, mistakes of keys may be consequences.
    if (std::ranges::all_of(found.list(), is_of_keys))
        for (const auto& one : found.list()) problems_.add(one);
}

step scenario_files::read_later(const config::node& item, const scope& in) {
    step one;
    one.where = item.where();
    one.file = item.file();
    one.inside = in.path;
    one.text = "a step that uses what was captured";
    one.drives = false;
    one.work = [self = shared_from_this(), item, in,
                point = setting_](scenario_context& ctx) mutable {
        point.seed = ctx.seed;
        scope now = nested(in, {"", item.where().line, std::string(item.file())});
        for (const auto& [name, value] : ctx.captured) now.values.emplace_back(name, value);
        self->problems_ = {};
        self->begin_point(point);
        std::vector<step> steps;
        self->read_item(item, now, steps);
        for (const auto& prepare : self->take_preparations())
            if (self->problems_.empty()) prepare(point);
        if (!self->problems_.empty()) throw step_failure(self->problems_.list().front().text());
        for (const auto& each : steps) play(each, ctx, *ctx.report);
    };
    read_in_advance(item, in, one);
    note_captures(item, in);
    return one;
}

}  // namespace trn::scenario

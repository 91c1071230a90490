// SPDX-License-Identifier: Apache-2.0
#include "platform/scenario/book.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "platform/scenario/play.h"
#include "platform/scenario/world.h"

namespace trn::scenario {

namespace fs = std::filesystem;

book::book(const fs::path& file) {
    documents_.push_back(config::document::load(file, problems_));
}

void book::begin_point() {
    captured_.clear();
    steps_ = 0;
}

// --- Files and sequences

void book::read_sequences() {
    std::vector<fs::path> chain{fs::weakly_canonical(documents_.front().name())};
    include(documents_.front(), chain);
}

void book::include(const config::document& from, std::vector<fs::path>& chain) {
    define(from.root().find("sequences"));
    const auto list = from.root().find("include");
    if (!list) return;
    for (const auto& item : list.items()) {
        const auto file =
            (fs::path(from.name()).parent_path() / std::string(item.raw())).lexically_normal();
        const auto known = fs::weakly_canonical(file);
        if (std::ranges::find(chain, known) != chain.end()) {
            item.report(mistake::include_cycle, "this file includes itself");
        } else if (!fs::is_regular_file(file)) {
            item.report(mistake::unreadable_file,
                        fmt::format("there is no file '{}'", file.string()));
        } else if (included_.insert(known).second) {
            const auto& next =
                documents_.emplace_back(config::document::load(file, problems_));
            next.root().only({"include", "sequences"}, "an included file");
            chain.push_back(known);
            include(next, chain);
            chain.pop_back();
        }
    }
}

void book::define(const config::node& all) {
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

// --- Steps

std::vector<step> book::read(const config::node& list, const parameters& point) {
    return list ? read_list(list, {point}) : std::vector<step>{};
}

std::vector<step> book::read_list(const config::node& list, const scope& in) {
    std::vector<step> steps;
    for (const auto& item : list.items()) read_item(item, in, steps);
    return steps;
}

void book::read_item(const config::node& item, const scope& in, std::vector<step>& out) {
    if (++steps_ > most_steps) {
        if (steps_ == most_steps + 1)
            item.report(mistake::bad_count,
                        fmt::format("a scenario has at most {} steps", most_steps));
        return;
    }
    if (uses_captured(item)) return out.push_back(read_later(item, in));
    if (item.is_map() && item.find("sequence")) return write_out(item, in, out);
    auto one = read_step(item, in.values);
    one.file = item.file();
    if (!in.inside.empty()) one.text = fmt::format("{}: {}", in.inside.back()->name, one.text);
    note_captures(item, in);
    out.push_back(std::move(one));
}

/// `sequence: {name: N, with: {...}}`: its steps in its place.
void book::write_out(const config::node& item, const scope& in, std::vector<step>& out) {
    item.only({"sequence"}, "a call of a sequence");
    const reader call(item.at("sequence"), in.values);
    call.only({"name", "with"});
    const auto name = call.text("name");
    const auto found = sequences_.find(name);
    if (found == sequences_.end()) {
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
    const auto mistakes = problems_.list().size();
    scope inner{arguments(call, callee, in), in.inside};
    if (problems_.list().size() != mistakes) return;
    inner.inside.push_back(&callee);
    for (auto& one : read_list(callee.steps, inner)) out.push_back(std::move(one));
}

/// What the callee's steps can use: its parameters, and what is around the call.
parameters book::arguments(const reader& call, const sequence& callee, const scope& in) const {
    parameters all;
    std::vector<std::string> known;
    const auto with = call.has("with") ? call.map("with").node() : config::node{};
    if (callee.parameters)
        for (const auto& [name, _, otherwise] : callee.parameters.entries()) {
            known.push_back(name);
            const auto given = with ? with.find(name) : config::node{};
            if (!given && !otherwise.is_scalar())
                call.node().report(
                    mistake::missing_parameter,
                    fmt::format("sequence '{}' needs '{}'", callee.name, name));
            else
                all.emplace_back(name, reader::replaced(given ? given : otherwise, in.values));
        }
    if (with)
        for (const auto& name : with.keys())
            if (std::ranges::find(known, name) == known.end())
                with.report_at(
                    with.key_place(name), mistake::unknown_parameter,
                    fmt::format("sequence '{}' has no parameter '{}'", callee.name, name),
                    suggest(name, known));
    all.insert(all.end(), in.values.begin(), in.values.end());
    return all;
}

// --- What a run captures

bool book::uses_captured(const config::node& value) const {
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

/// `as` of a step: a name, or a list of them.
void book::note_captures(const config::node& item, const scope& in) {
    if (!item.is_map()) return;
    for (const auto& kind : item.keys()) {
        const auto step = item.find(kind);
        const auto as = step.is_map() ? step.find("as") : config::node{};
        if (!as) continue;
        for (const auto& name : as.is_list() ? as.items() : std::vector{as}) {
            if (std::ranges::find(in.values, name.raw(), &parameters::value_type::first) !=
                in.values.end())
                name.report(mistake::duplicate_name,
                            fmt::format("'{}' is a parameter already", name.raw()));
            captured_.emplace(name.name());
        }
    }
}

step book::read_later(const config::node& item, const scope& in) {
    step one;
    one.where = item.where();
    one.file = item.file();
    one.text = "a step that uses what was captured";
    one.work = [self = shared_from_this(), item, in](world& w) {
        scope now = in;
        for (const auto& [name, value] : w.captured) now.values.emplace_back(name, value);
        self->problems_ = {};
        self->begin_point();
        std::vector<step> steps;
        self->read_item(item, now, steps);
        if (!self->problems_.empty()) throw step_failure(self->problems_.list().front().text());
        for (const auto& each : steps) play(each, w, *w.tell);
    };
    note_captures(item, in);
    return one;
}

}  // namespace trn::scenario

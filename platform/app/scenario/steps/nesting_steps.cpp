// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/steps/nesting_steps.h"

#include <exception>
#include <string_view>
#include <utility>

#include "platform/app/scenario/context/measure.h"
#include "platform/app/scenario/context/play.h"
#include "platform/app/scenario/context/scenario_context.h"
#include "platform/app/scenario/language/bounds.h"
#include "platform/framework/kernel/time_value.h"

namespace trn::scenario {

keys<sequence_call> sequence_keys() {
    return {key("name", &sequence_call::name, "in `sequences`").required(),
            key<sequence_call>("with", value_shape::map, "{parameter: value}")};
}

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

std::vector<step_kind> nesting_steps() {
    return {
        {"sequence", "the steps of that name", step_kind::form::mapping, shown(sequence_keys())},
        {"together", "branches that begin at the same time", step_kind::form::branches},
        {"figure", "a value in the reports", step_kind::form::mapping, shown(figure_keys())}};
}

void add_rules_of(const std::vector<step>& parts, step& whole) {
    for (const auto& part : parts)
        whole.rules.insert(whole.rules.end(), part.rules.begin(), part.rules.end());
}

// --- Branches

namespace {

/// Runs the steps of a branch until any branch fails; only the first failure is reported.
void play_branch(const std::vector<step>& steps, scenario_context& ctx) {
    for (const auto& played : steps) {
        if (ctx.run.branch_failure) return;
        try {
            play(played, ctx);
        } catch (const std::exception& wrong) {
            if (!ctx.run.branch_failure) {
                ctx.run.branch_failure = wrong.what();
                ctx.report.resume(played, trn_now(ctx.device));
            }
            throw;
        }
    }
}

}  // namespace

void plan_branches(step& whole, std::vector<std::vector<step>> branches) {
    whole.drives = false;
    for (const auto& branch : branches) add_rules_of(branch, whole);
    whole.work = [branches = std::move(branches)](scenario_context& ctx) {
        std::size_t next = 0;
        ctx.hosts.run_each(std::vector<std::size_t>(branches.size(), 0),
                           [&](auto, auto&) { play_branch(branches[next++], ctx); });
    };
}

// --- Figures

void figure_spec::finish(const reader& r) {
    wanted = {name, 0, unit};
    is_timed = !value && r.has("time_of");
    const bool is_rate = is_timed && size && size->value != 0;
    const auto bound = [&](std::string_view key) {
        if (!is_timed) return r.real(key);
        return is_rate ? static_cast<double>(r.rate(key)) * 1e-9
                       : static_cast<double>(r.time(key)) * 1e-3;
    };
    if (is_rate) wanted.unit = "GB/s";
    if (r.has("at_least")) wanted.min = bound("at_least");
    if (r.has("at_most")) wanted.max = bound("at_most");
    check_bounds(r, wanted);
    if (is_timed && wanted.unit.empty()) wanted.unit = "us";
}

namespace {

/// Plays the steps; returns their simulated time, or their rate when they move `bytes`.
double timed(const std::vector<step>& parts, const step& whole, std::uint64_t bytes,
             scenario_context& ctx) {
    const auto begin = sc_core::sc_time_stamp();
    for (const auto& each : parts) play(each, ctx);
    ctx.report.resume(whole, trn_now(ctx.device));
    const auto ns = static_cast<double>(in_picoseconds(sc_core::sc_time_stamp() - begin)) / 1000;
    if (bytes != 0 && ns == 0)
        throw step_failure("the rate is undefined: the steps took no simulated time");
    return bytes != 0 ? static_cast<double>(bytes) / ns : ns * 1e-3;
}

}  // namespace

void plan_figure(step& whole, const figure_spec& spec, std::vector<step> parts) {
    whole.drives = false;
    add_rules_of(parts, whole);
    const auto measured = [wanted = spec.wanted](scenario_context& ctx, double value) {
        auto found = wanted;
        found.value = value;
        measure(ctx, found);
    };
    if (spec.value)
        whole.work = [=, value = *spec.value](scenario_context& ctx) { measured(ctx, value); };
    else if (spec.is_timed)
        // Reported a second time after its inner steps.
        whole.work = [=, parts = std::move(parts), place = whole,
                      bytes = spec.size.value_or(trn::bytes{}).value](scenario_context& ctx) {
            measured(ctx, timed(parts, place, bytes, ctx));
        };
    else
        whole.work = [=, number = number_at(spec)](scenario_context& ctx) {
            measured(ctx, static_cast<double>(number(ctx)()));
        };
}

}  // namespace trn::scenario

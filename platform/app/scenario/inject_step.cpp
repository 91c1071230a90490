// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <optional>
#include <random>
#include <string>
#include <systemc>
#include <vector>

#include "platform/app/scenario/condition.h"
#include "platform/app/scenario/expression.h"
#include "platform/app/scenario/steps.h"
#include "platform/framework/config/mix_in.h"
#include "platform/framework/kernel/introspection.h"
#include "platform/framework/kernel/known_arguments.h"
#include "platform/framework/kernel/time_text.h"
#include "platform/framework/kernel/trace.h"

namespace trn::scenario {

namespace {

/// Modules that match `pattern` and have the fault, at least `some`. \throws step_failure
std::vector<std::string> faulty_modules(scenario_context& ctx, const std::string& pattern,
                                        const expression& names, const std::string& fault,
                                        std::size_t some) {
    std::vector<std::string> all, others, faults;
    for (const auto& one : call(ctx, "list", {{"what", "faults"}})) {
        const std::string module = one["module"], name = one["fault"];
        const bool meant = names.matches(module);
        if (meant) faults.push_back(name);
        if (name == fault) (meant ? all : others).push_back(module);
    }
    if (all.empty() && !faults.empty())
        throw step_failure(
            fmt::format("{} has no fault '{}'  {}", pattern, fault, suggest(fault, faults)));
    if (all.empty())
        throw step_failure(fmt::format("no module '{}' has the fault '{}'  {}", pattern, fault,
                                       suggest(pattern, others)));
    if (some > all.size())
        throw step_failure(fmt::format("only {} modules match {}", all.size(), pattern));
    return all;
}

/// Draws `some` of the modules; 0: all. Each draw of a scenario is independent of the others.
std::vector<std::string> drawn(scenario_context& ctx, std::vector<std::string> all,
                               std::size_t some) {
    if (some == 0) return all;
    std::mt19937_64 random(mix_in(first_mix, fmt::format("{} {}", ctx.seed, ctx.draws++)));
    while (all.size() > some)
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(random() % all.size()));
    return all;
}

struct inject_spec {
    std::string module = {}, fault = {};
    std::uint32_t some = 0;
    nanoseconds at = {};

    std::optional<expression> names = {};
    fault_arguments arguments = {};
    std::optional<condition> when = {};
    void finish(const reader& r) {
        std::string wrong;
        names = expression::of_names(module, wrong);
        if (!names) r.node().at("module").report(mistake::not_a_choice, wrong);
        if (r.has("with")) {
            const auto with = r.map("with");
            for (const auto& [name, where, value] : with.node().entries())
                arguments[name] = with.text(name);
        }
        if (r.has("when")) when = read_condition(r.map("when"), {1'000'000'000});
    }
    void run(scenario_context& ctx) const {
        const auto now = trn_now(ctx.device);
        if (at.value != 0 && at.value < now)
            throw step_failure(
                fmt::format("it is {} already", trn::to_text(sc_core::sc_time_stamp())));
        if (at.value != 0) ctx.sleep(at.value - now);
        if (when) await(ctx, *when);
        const auto all = faulty_modules(ctx, module, *names, fault, some);
        for (const auto& each : drawn(ctx, all, some)) {
            if (trace::on())
                trace::event("scenario", "fault", {{"module", each}, {"fault", fault}});
            call(ctx, "inject", {{"module", each}, {"fault", fault}, {"arguments", arguments}});
            ctx.injected.push_back(record(each, all.size()));
        }
    }
    /// "injected flap {for: 2 ms} into wire3, one of 4 that 'wire*' names, at 110 ms"
    std::string record(const std::string& chosen, std::size_t of) const {
        std::string with;
        for (const auto& [name, value] : arguments)
            with += fmt::format("{}{}: {}", with.empty() ? "" : ", ", name, value);
        return fmt::format("injected {}{} into {}{}, at {}", fault,
                           with.empty() ? "" : fmt::format(" {{{}}}", with), chosen,
                           of == 1 ? "" : fmt::format(", one of {} that '{}' names", of, module),
                           trn::to_text(sc_core::sc_time_stamp()));
    }
    /// \throws step_failure for an unknown module, fault or argument
    void check(scenario_context& ctx) const {
        for (const auto& each : faulty_modules(ctx, module, *names, fault, some)) {
            auto* found = dynamic_cast<accepts_faults*>(sc_core::sc_find_object(each.c_str()));
            for (const auto& one : found->faults()) {
                if (one.name != fault) continue;
                const auto wrong = unknown_argument(fault, one.description, arguments);
                if (!wrong.empty()) throw step_failure(wrong);
            }
        }
    }
    action plan() const {
        return {.text = fmt::format("inject {} into {}{}", fault, module,
                                    when ? fmt::format(" when {}", when->text) : ""),
                .work = [s = *this](scenario_context& ctx) { s.run(ctx); },
                .rules = when ? when->rules : std::vector<checked_rule>{},
                .drives = false,
                .check = [s = *this](scenario_context& ctx) { s.check(ctx); }};
    }
};

}  // namespace

step_kind inject_step() {
    using i = inject_spec;
    return step_of<i>("inject", "injects a fault that `trnctl list` names",
                      {key("module", &i::module, "name, or a pattern with `*`").required(),
                       key("fault", &i::fault, "its name in `trnctl list`").required(),
                       key<i>("with", value_shape::map, "arguments of the fault by name"),
                       key("some", &i::some, "number of matching modules; 0: all"),
                       key("at", &i::at, "simulated time; 0: now"),
                       key<i>("when", value_shape::condition,
                              "the fault waits for it, at most 1 s unless it has `within`")});
}

}  // namespace trn::scenario

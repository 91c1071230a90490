// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <optional>
#include <random>
#include <string>
#include <vector>

#include "platform/app/scenario/conditions/condition.h"
#include "platform/app/scenario/context/board_access.h"
#include "platform/app/scenario/context/scenario_context.h"
#include "platform/app/scenario/language/step_table.h"
#include "platform/framework/config/mix_in.h"
#include "platform/framework/kernel/faults.h"
#include "platform/framework/kernel/trace.h"

namespace trn::scenario {

namespace {

/// At least `some` modules with the fault whose names match. \throws step_failure
std::vector<faulty_module> chosen(const std::string& pattern, const std::string& fault,
                                  std::size_t some) {
    try {
        auto all = modules_with_fault(pattern, fault);
        if (some > all.size())
            throw step_failure(fmt::format("only {} modules match {}", all.size(), pattern));
        return all;
    } catch (const fault_error& wrong) {
        throw step_failure(wrong.what());
    }
}

/// Random choices of a scenario so far.
struct draws {
    std::uint64_t count = 0;
};

/// Draws `some` of the modules; 0: all. Each draw of a scenario is independent of the others.
std::vector<faulty_module> drawn(scenario_context& ctx, std::vector<faulty_module> all,
                                 std::size_t some) {
    if (some == 0) return all;
    std::mt19937_64 random(
        mix_in(first_mix, fmt::format("{} {}", ctx.seed, ctx.kept.get<draws>().count++)));
    while (all.size() > some)
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(random() % all.size()));
    return all;
}

struct inject_spec {
    std::string module = {}, fault = {};
    std::uint32_t some = 0;
    nanoseconds start = {};

    fault_arguments arguments = {};
    std::optional<condition> trigger = {};
    void finish(const reader& r) {
        if (r.has("with")) {
            const auto map = r.map("with");
            for (const auto& [name, _node, _value] : map.node().entries())
                arguments[name] = map.text(name);
        }
        if (r.has("when")) trigger = read_condition(r.map("when"), {1'000'000'000});
    }
    void run(scenario_context& ctx) const {
        const auto now = trn_now(ctx.device);
        if (start.value != 0 && start.value < now)
            throw step_failure(fmt::format("it is {} already", to_string(nanoseconds{now})));
        if (start.value != 0) ctx.waits.sleep(start.value - now);
        if (trigger) await(ctx, *trigger);
        const auto all = chosen(module, fault, some);
        for (const auto& [name, _] : drawn(ctx, all, some)) {
            if (trace::on())
                trace::event("scenario", "fault", {{"module", name}, {"fault", fault}});
            call(ctx, "inject", {{"module", name}, {"fault", fault}, {"arguments", arguments}});
            ctx.injected.push_back(record(ctx, name, all.size()));
        }
    }
    /// "injected flap {for: 2 ms} into wire3, one of 4 that 'wire*' names, at 110 ms"
    std::string record(const scenario_context& ctx, const std::string& hit,
                       std::size_t matching) const {
        std::string argument_text;
        for (const auto& [name, value] : arguments)
            argument_text +=
                fmt::format("{}{}: {}", argument_text.empty() ? "" : ", ", name, value);
        return fmt::format(
            "injected {}{} into {}{}, at {}", fault,
            argument_text.empty() ? "" : fmt::format(" {{{}}}", argument_text), hit,
            some == 0 ? "" : fmt::format(", one of {} that '{}' names", matching, module),
            to_string(nanoseconds{trn_now(ctx.device)}));
    }
    /// \throws step_failure for an unknown module, fault or argument
    void check() const {
        for (const auto& each : chosen(module, fault, some)) try {
                each.module->check(fault, arguments);
            } catch (const fault_error& wrong) {
                throw step_failure(wrong.what());
            }
    }
    action plan() const {
        return {.text = fmt::format("inject {} into {}{}", fault, module,
                                    trigger ? fmt::format(" when {}", trigger->text) : ""),
                .work = [s = *this](scenario_context& ctx) { s.run(ctx); },
                .rules = trigger ? trigger->rules : std::vector<checked_rule>{},
                .drives = false,
                .check =
                    [s = *this](scenario_context& ctx) {
                        s.check();
                        if (s.trigger && s.trigger->check) s.trigger->check(ctx);
                    }};
    }
};

}  // namespace

std::vector<step_kind> inject_steps() {
    using i = inject_spec;
    return {step_of<i>("inject", "injects a fault of doc/faults.md",
                       {key("module", &i::module, "name, or a pattern with `*`").required(),
                        key("fault", &i::fault, "its name in `trnctl list faults`").required(),
                        key<i>("with", value_shape::map,
                               "arguments of the fault by name, as in `trnctl list faults`"),
                        key("some", &i::some, "number of matching modules; 0: all"),
                        key("at", &i::start, "simulated time; 0: now"),
                        key<i>("when", value_shape::condition,
                               "the fault waits for it, at most 1 s unless it has `within`")})};
}

}  // namespace trn::scenario

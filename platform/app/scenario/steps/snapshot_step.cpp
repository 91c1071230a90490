// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "platform/app/scenario/context/scenario_context.h"
#include "platform/app/scenario/language/step_table.h"
#include "platform/framework/kernel/trace.h"
#include "platform/framework/misuse/misuse.h"
#include "platform/framework/snapshots/io_hooks.h"
#include "platform/framework/snapshots/snapshots.h"

namespace trn::scenario {

namespace {

snapshots& states_of(scenario_context& ctx) {
    return ctx.kept.get<snapshots>(hooks_of(ctx.control.loop().io()));
}

action take_snapshot(const std::string& name) {
    return {.text = fmt::format("snapshot '{}'", name),
            .work =
                [name](scenario_context& ctx) {
                    const auto carry = states_of(ctx).keep(name);
                    if (!carry) return;
                    ctx.run.next_step = carry->state["next_step"];
                    if (trace::on())
                        trace::event(
                            "scenario", "restored",
                            {{"snapshot", name}, trace::hex("after", carry->traced.digest)});
                },
            .keeps = name,
            .drives = false};
}

action go_back_to(const std::string& name) {
    return {.text = fmt::format("restore '{}'", name),
            .work =
                [name](scenario_context& ctx) {
                    if (misuse::failed())
                        throw step_failure("a misuse rule failed the run; restore would hide it");
                    const auto& states = states_of(ctx);
                    states.restore(states.prepare(name), {{"next_step", ctx.run.next_step}});
                },
            .returns_to = name,
            .drives = false};
}

}  // namespace

std::vector<step_kind> snapshot_steps() {
    step_kind take{"snapshot", "keeps the whole state in memory", step_kind::form::word};
    take.read = [](const reader& r) { return take_snapshot(r.word()); };
    step_kind back{"restore", "returns to this state and continues with the next step",
                   step_kind::form::word};
    back.read = [](const reader& r) { return go_back_to(r.word()); };
    return {take, back};
}

}  // namespace trn::scenario

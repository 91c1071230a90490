// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/context/play.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "platform/app/scenario/context/failure_state.h"
#include "platform/framework/kernel/trace.h"
#include "platform/framework/misuse/misuse.h"

namespace trn::scenario {

namespace {

/// Checks a failed device call against `may_fail`, or `fails` and `saying`.
void check_failure(const step& played, const device_error& wrong) {
    if (std::ranges::find(played.may_fail, wrong.status) != played.may_fail.end()) return;
    if (!played.fails) throw step_failure(wrong.what());
    if (wrong.status != *played.fails)
        throw step_failure(fmt::format("expected failure '{}', got: {}",
                                       trn_status_text(*played.fails), wrong.what()));
    if (std::string_view(wrong.what()).find(played.saying) == std::string_view::npos)
        throw step_failure(fmt::format("expected a failure with the message '{}', got: {}",
                                       played.saying, wrong.what()));
}

/// Runs a step. \throws step_failure
void run(const step& played, scenario_context& ctx) {
    ctx.report.begin(played, trn_now(ctx.device));
    if (trace::on()) trace::event("scenario", "step", {{"text", played.text}});
    try {
        std::optional<driver_queue::turn> turn;
        if (played.drives && played.has_status && ctx.hosts.chips().empty())
            throw step_failure(
                "the board's host is inside: its Linux has the chips (steps 'boot: {host: linux}' "
                "and 'host')");
        if (played.drives) turn.emplace(ctx.run.driver);
        played.work(ctx);
    } catch (const device_error& wrong) {
        return check_failure(played, wrong);
    }
    if (played.fails)
        throw step_failure(fmt::format("expected failure '{}', but the step succeeded",
                                       trn_status_text(*played.fails)));
}

}  // namespace

void check_misuse() {
    if (misuse::failed()) throw step_failure("misuse: " + broken_rules());
}

std::string broken_rules() {
    std::string text;
    for (const auto& e : misuse::summary())
        if (misuse::policy_of(e.broken) == misuse::policy::fail)
            text += fmt::format("{}{} {} ({} times by {}{}{})", text.empty() ? "" : ", ",
                                e.broken.id, e.broken.name, e.count, e.module,
                                e.first_detail.empty() ? "" : ": ", e.first_detail);
    return text;
}

void play(const step& played, scenario_context& ctx) {
    auto& in_progress = ctx.run.in_progress;
    const auto mine = in_progress.insert(in_progress.end(), {&played, sc_core::sc_time_stamp()});
    try {
        run(played, ctx);
        if (ctx.run.checks_misuse) check_misuse();
    } catch (const std::exception&) {
        in_progress.erase(mine);
        if (!ctx.run.state) ctx.run.state = state_at_failure(ctx);
        throw;
    }
    in_progress.erase(mine);
}

}  // namespace trn::scenario

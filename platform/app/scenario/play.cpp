// SPDX-License-Identifier: Apache-2.0
#include "platform/app/scenario/play.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "platform/app/scenario/failure_state.h"
#include "platform/framework/kernel/trace.h"
#include "platform/framework/misuse/misuse.h"

namespace trn::scenario {

namespace {

/// Checks a failed device call against `may_fail`, or `fails` and `saying`.
void check_failure(const step& one, const device_error& wrong) {
    if (std::ranges::find(one.may_fail, wrong.status) != one.may_fail.end()) return;
    if (!one.fails) throw step_failure(wrong.what());
    if (wrong.status != *one.fails)
        throw step_failure(fmt::format("expected failure '{}', got: {}",
                                       trn_status_text(*one.fails), wrong.what()));
    if (std::string_view(wrong.what()).find(one.saying) == std::string_view::npos)
        throw step_failure(fmt::format("expected a failure with the message '{}', got: {}",
                                       one.saying, wrong.what()));
}

/// Exclusive access of a step to the driver stub, which runs one call at a time. Steps get it in
/// the order of their start.
class driver_turn {
public:
    explicit driver_turn(scenario_context& on) : on_(on), number_(on.driver_turns++) {
        while (on_.driver_turn != number_) sc_core::wait(on_.driver_free);
    }
    ~driver_turn() {
        ++on_.driver_turn;
        if (on_.driver_turn != on_.driver_turns) on_.driver_free.notify(sc_core::SC_ZERO_TIME);
    }
    driver_turn(const driver_turn&) = delete;
    driver_turn& operator=(const driver_turn&) = delete;

private:
    scenario_context& on_;
    const std::uint64_t number_;
};

/// Runs a step. \throws step_failure
void run(const step& one, scenario_context& on, const progress& to) {
    on.report = &to;
    to.at(one, trn_now(on.device));
    if (trace::on()) trace::event("scenario", "step", {{"text", one.text}});
    try {
        std::optional<driver_turn> turn;
        if (one.drives) turn.emplace(on);
        one.work(on);
    } catch (const device_error& wrong) {
        return check_failure(one, wrong);
    }
    if (one.fails)
        throw step_failure(fmt::format("expected failure '{}', but the step succeeded",
                                       trn_status_text(*one.fails)));
}

/// Fails after a violation of a rule with the policy `fail`.
void check_misuse() {
    if (misuse::failed()) throw step_failure("misuse: " + broken_rules());
}

}  // namespace

std::string broken_rules() {
    std::string text;
    for (const auto& e : misuse::summary())
        if (misuse::policy_of(e.broken) == misuse::policy::fail)
            text += fmt::format("{}{} {} ({} times by {}{}{})", text.empty() ? "" : ", ",
                                e.broken.id, e.broken.name, e.count, e.module,
                                e.first_detail.empty() ? "" : ": ", e.first_detail);
    return text;
}

void play(const step& one, scenario_context& on, const progress& to) {
    const auto mine = on.in_progress.insert(on.in_progress.end(), {&one, sc_core::sc_time_stamp()});
    try {
        run(one, on, to);
        if (on.checks_misuse) check_misuse();
    } catch (const std::exception&) {
        on.in_progress.erase(mine);
        if (!on.state) on.state = state_at_failure(on);
        throw;
    }
    on.in_progress.erase(mine);
}

void play(const scenario& run, scenario_context& on, const progress& to, std::size_t done) {
    for (const auto& one : run.checks) try {
            one.work(on);
        } catch (...) {
            on.state = std::vector<std::string>{};  // nothing has run
            to.again(one, trn_now(on.device));
            throw;
        }
    on.checks_misuse = true;
    if (done > 0 && misuse::failed()) {
        to.again(run.steps[done - 1], trn_now(on.device));
        check_misuse();
    }
    for (on.next_step = done; on.next_step < run.steps.size();)
        play(run.steps[on.next_step++], on, to);
    for (const auto& one : run.expectations) play(one, on, to);
}

}  // namespace trn::scenario

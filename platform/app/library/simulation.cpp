// SPDX-License-Identifier: Apache-2.0
#include "platform/app/library/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "platform/framework/kernel/time_text.h"
#include "platform/framework/kernel/time_value.h"
#include "platform/framework/log_reports.h"

namespace trn::library {

namespace {

using sc_core::sc_time;
using sc_core::sc_time_stamp;

sc_time in_future(std::uint64_t time_ps) {
    const auto time = sc_time::from_value(time_ps);
    if (time < sc_time_stamp())
        throw failure(TRNVP_INVALID_ARGUMENT,
                      fmt::format("time_ps: {} is in the past, simulated time is {}", to_text(time),
                                  to_text(sc_time_stamp())));
    return std::min(time, end_of_time());
}

trnvp_status status_of(stop_reason::kind cause) {
    using kind = stop_reason::kind;
    switch (cause) {
    case kind::condition:
        return TRNVP_OK;
    case kind::time_limit:
        return TRNVP_TIME_LIMIT;
    case kind::wall_limit:
        return TRNVP_WALL_LIMIT;
    case kind::paused:
        return TRNVP_PAUSED;
    case kind::stalled:
        return TRNVP_STALLED;
    case kind::restored:
    case kind::quit:
        break;
    }
    return TRNVP_ENDED;
}

}  // namespace

void simulation::check_can_advance() const {
    if (calls_.inside())
        throw failure(TRNVP_UNAVAILABLE,
                      "time cannot advance inside a callback: return from it, and call then");
    if (!ended_.empty()) throw failure(TRNVP_ENDED, ended_);
}

stop_reason simulation::advance(run_loop::goal goal) {
    check_can_advance();
    loop_.resume();
    goal.ends_on_pause = true;
    try {
        auto reason = loop_.run(std::move(goal));
        if (reason.cause == stop_reason::kind::quit) ended_ = reason.text;
        calls_.rethrow();
        return reason;
    } catch (const failure&) {
        throw;
    } catch (const std::exception& error) {  // of a model
        ended_ = log::sentence(error);
        throw failure(TRNVP_ENDED, ended_);
    }
}

/// Runs while another goal advances time, until `condition` is true.
void simulation::advance_until(const std::function<bool()>& condition) {
    run_loop::goal goal{waiter, "an answer"};
    goal.condition = condition;
    goal.background = true;
    advance(std::move(goal));
}

void simulation::run_until(std::uint64_t time_ps) {
    const auto reason = advance({waiter, "simulated time", in_future(time_ps)});
    if (reason.cause != stop_reason::kind::time_limit)
        throw failure(status_of(reason.cause), reason.text);
}

void simulation::run_until_true(const std::function<bool()>& condition, std::uint64_t time_ps,
                                double wall_seconds) {
    constexpr double a_year = 365.0 * 86400;
    if (!(wall_seconds >= 0 && wall_seconds <= a_year))
        throw failure(TRNVP_INVALID_ARGUMENT,
                      fmt::format("wall_seconds: {} is no number of seconds", wall_seconds));
    run_loop::goal goal{waiter, "its condition"};
    if (time_ps != UINT64_MAX) goal.until = in_future(time_ps);
    goal.condition = [&] {
        bool met = false;
        calls_("the condition", [&] { met = condition(); });
        return met;
    };
    if (wall_seconds > 0)
        goal.wall_limit = std::chrono::duration_cast<run_loop::wall_clock::duration>(
            std::chrono::duration<double>(wall_seconds));
    const auto reason = advance(std::move(goal));
    if (reason.cause != stop_reason::kind::condition)
        throw failure(status_of(reason.cause), reason.text);
}

void simulation::pass(const sc_time& duration) {
    const auto reason = advance({waiter, "its access", later(sc_time_stamp(), duration)});
    if (reason.cause == stop_reason::kind::quit) throw failure(TRNVP_ENDED, reason.text);
}

void simulation::pass_until(const std::function<bool()>& ended) {
    std::optional<stop_reason> stalled;
    awaited_ = loop_.wait_for({waiter, "the end of its access"}, [&](const stop_reason& why) {
        awaited_.reset();
        stalled = why;
    });
    try {
        advance_until([&] { return stalled || ended(); });
    } catch (...) {
        if (awaited_) loop_.cancel(*std::exchange(awaited_, {}));
        throw;
    }
    if (awaited_) loop_.cancel(*std::exchange(awaited_, {}));
    if (stalled && !ended()) throw failure(status_of(stalled->cause), stalled->text);
}

void simulation::wake() {
    if (awaited_) loop_.between_slices([] {});  // ends the slice
}

}  // namespace trn::library
